# What times machines and fits tables: GSL, XGBoost, BLAS, MPI, CUDA. Predicting
# needs none of it; -DMSIM_FITTING=OFF leaves it out, and then nothing of it is
# looked for.
pkg_check_modules(GSL REQUIRED IMPORTED_TARGET gsl)
# What the CPU is timed with; without them those programs are not built.
# The one with OpenMP first, whichever is Debian's alternative: its threads are
# those of our own loops (profilers/cpu/cpu.h).
if(NOT DEFINED ENV{PKG_CONFIG_LIBDIR}) # else that is where packages are
    set(openblas_openmp "${CMAKE_LIBRARY_ARCHITECTURE}/openblas-openmp")
    set(ENV{PKG_CONFIG_PATH}
        "/usr/lib/${openblas_openmp}/pkgconfig:$ENV{PKG_CONFIG_PATH}")
endif()
pkg_check_modules(OPENBLAS IMPORTED_TARGET openblas)
find_package(OpenMP COMPONENTS C)
# Its own configuration wants OpenCL, which we do not; 3 has another interface.
find_library(MSIM_DNNL_LIBRARY dnnl)
find_path(MSIM_DNNL_INCLUDE oneapi/dnnl/dnnl_version.h)
mark_as_advanced(MSIM_DNNL_LIBRARY MSIM_DNNL_INCLUDE)
set(dnnl_version "")
if(MSIM_DNNL_LIBRARY AND MSIM_DNNL_INCLUDE)
    file(STRINGS ${MSIM_DNNL_INCLUDE}/oneapi/dnnl/dnnl_version.h dnnl_version
         REGEX "DNNL_VERSION_MAJOR +2$")
endif()
pkg_check_modules(OPENMPI IMPORTED_TARGET ompi-c)
# Grows the trees of platform files; nothing but msim-fit needs it.
pkg_check_modules(XGBOOST IMPORTED_TARGET xgboost)

# GSL is GPLv3: only the programs that fit link it, mystique-sim does not.
msim_library(calibrate msim_models msim_profilers msim_plan msim_serving
             PkgConfig::GSL)

# Makes data/platforms out of data sheets and tables of measured times. The
# trees are a library of their own, so that all else builds without XGBoost.
if(XGBOOST_FOUND)
    add_library(msim_trees calibrate/stat/boost.c)
    target_link_libraries(msim_trees PUBLIC msim_models
                          PRIVATE PkgConfig::XGBOOST)
    target_link_libraries(msim_calibrate PUBLIC msim_trees)
    add_executable(msim-fit calibrate/programs/fit_main.c)
    target_link_libraries(msim-fit PRIVATE msim_calibrate)
    # Times this machine and fits what came out; the verb calibrate starts it.
    add_executable(msim-calibrate calibrate/programs/calibrate_main.c)
    target_link_libraries(msim-calibrate PRIVATE msim_calibrate)
    # Trees that foresee violations; the verb learn starts it.
    add_executable(msim-learn calibrate/programs/learn_main.c)
    target_link_libraries(msim-learn PRIVATE msim_serving msim_trees)
    # The constants of fits of collectives, and how good they are.
    add_executable(msim-fit-collectives
                   calibrate/programs/fit_collectives_main.c)
    target_link_libraries(msim-fit-collectives PRIVATE msim_calibrate)
    # The laws that are common to all GPUs, and how good they are.
    add_executable(msim-fit-shared calibrate/programs/fit_shared_main.c)
    target_link_libraries(msim-fit-shared PRIVATE msim_calibrate)
else()
    message(STATUS "No XGBoost (Debian: libxgboost-dev): msim-fit "
                   "and msim-calibrate are not built")
endif()
# Makes data/laws/steps.json out of tables of measured jobs.
add_executable(msim-fit-steps calibrate/programs/fit_steps_main.c
                              calibrate/programs/fit_steps_lines.c
                              calibrate/programs/fit_steps_memory.c
                              calibrate/programs/fit_steps_fits.c)
target_link_libraries(msim-fit-steps PRIVATE msim_calibrate)
# Makes data/laws/serving.json out of a table of measured servers.
add_executable(msim-fit-serving calibrate/programs/fit_serving_main.c)
target_link_libraries(msim-fit-serving PRIVATE msim_calibrate)
# Makes data/laws/programs.json out of times of whole programs.
add_executable(msim-fit-factors calibrate/programs/fit_factors_main.c)
target_link_libraries(msim-fit-factors PRIVATE msim_calibrate)
# Makes data/hosts/generic.json out of real traces.
add_executable(msim-fit-host calibrate/programs/fit_host_main.c)
target_link_libraries(msim-fit-host PRIVATE msim_calibrate)

# Time experiments; calibrate runs them as processes of their own. Each folder
# adds what it can build here to profiler_programs.
set(profiler_programs "")
set(cuda_library "")
add_subdirectory(profilers/cpu)
add_subdirectory(profilers/cuda)

install(TARGETS ${profiler_programs} DESTINATION ${CMAKE_INSTALL_BINDIR}
        COMPONENT fitting)
if(cuda_library)
    install(TARGETS mystique-prof-cuda ${cuda_library} COMPONENT cuda
            RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR}
            LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
endif()
if(XGBOOST_FOUND)
    install(TARGETS msim-calibrate msim-learn COMPONENT fitting
            DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
