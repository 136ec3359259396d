# Static libraries whose names differ from what pkg-config says, or that Debian
# does not have. A program that links libc has no name service and opens no
# libraries; ours asks for neither.
set(MSIM_CJSON_SOURCE "" CACHE PATH
    "Folder with cJSON.c, where there is no libcjson.a (Debian has none)")

find_library(MSIM_YAJL_STATIC NAMES yajl_s yajl)
find_library(MSIM_CJSON_STATIC cjson)
mark_as_advanced(MSIM_YAJL_STATIC MSIM_CJSON_STATIC)
if(NOT MSIM_YAJL_STATIC)
    message(FATAL_ERROR "MSIM_STATIC wants libyajl_s.a or libyajl.a")
endif()
set_property(TARGET PkgConfig::YAJL PROPERTY
             INTERFACE_LINK_LIBRARIES ${MSIM_YAJL_STATIC})
if(MSIM_CJSON_SOURCE)
    if(NOT EXISTS ${MSIM_CJSON_SOURCE}/cJSON.c)
        message(FATAL_ERROR "no cJSON.c in MSIM_CJSON_SOURCE, which is "
                            "'${MSIM_CJSON_SOURCE}'")
    endif()
    add_library(cjson_static STATIC ${MSIM_CJSON_SOURCE}/cJSON.c)
    set(MSIM_CJSON_STATIC cjson_static m)
elseif(NOT MSIM_CJSON_STATIC)
    message(FATAL_ERROR "MSIM_STATIC wants libcjson.a, or the source of cJSON: "
                        "-DMSIM_CJSON_SOURCE=DIR (apt-get source cjson)")
endif()
set_property(TARGET PkgConfig::CJSON PROPERTY
             INTERFACE_LINK_LIBRARIES ${MSIM_CJSON_STATIC})
