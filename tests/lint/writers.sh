#!/usr/bin/env bash
# Nothing from a file is ever code: whatever leaves the program goes through the
# writer of its language, of which each has one. Writers are found by what they
# write, in every room and in the scripts.
#
#   language         writer                 in
#   plain text       msim_print             core/base/print.h
#   CSV              msim_csv_print, ...    core/base/csv.h
#   JSON             msim_json_*            core/base/json.h
#   gnuplot          msim_gnuplot_print     core/report/write/chart.h
#   HTML             msim_html_print        core/report/page/page.h
#   Markdown         msim_markdown_print    core/report/markdown/markdown.h
#   the shell        msim_shell_print       profilers/ask/shell.h
#   Python           msim_text_add, _word   replay/emit/emit_python_internal.h
#
# lint.writers_planted plants a fault of each kind in each room.
. "$(dirname "$0")/lib.bash"

# Files that may do what others may not: the writers themselves, and what hands
# on what a writer has made.
bytes='core/base/(print|json|json_out|write_file)\.c|core/report/page/html\.c'
bytes+='|predict/op/op_rows\.c|plan/rows/job_marks\.c'
copies='cli/(plan/cmd_plan|schema/cmd_schema)\.c'
tables='calibrate/factors/spread_write\.c' # of what we fit, for our docs
prints='cli/message\.c'
formats='core/base/print\.c'
quotes='profilers/ask/shell\.c'
starts='core/report/write/run_program\.c|profilers/ask/(shell|backend_child)\.c'
starts+='|cli/(calibrate/cmd_calibrate|capture/capture_model|serving/cmd_learn)\.c'
moves='cli/progress\.c|calibrate/programs/calibrate_main\.c'

# Statements of a C file, one a line: the line that it ends in, a tab, the code
# with strings as "", a tab, the strings. A function ends in a line "}".
statements() {
    awk '
    function flush() {
        gsub(/[ \t]+/, " ", code)
        if (code ~ /[^ ]/ || text != "")
            print FNR "\t" code "\t" text
        code = text = ""
    }
    BEGIN { quote = "\047" }
    /^[ \t]*#[ \t]*(include|if|el|endif|pragma|undef)/ { next }
    {
        rest = $0
        if (rest ~ /\\$/) sub(/\\$/, "", rest)
        while (rest != "") {
            if (comment) {
                if (!(end = index(rest, "*/"))) break
                rest = substr(rest, end + 2); comment = 0
                continue
            }
            if (!match(rest, /["\047;{}]|\/[*\/]/)) { code = code rest; break }
            code = code substr(rest, 1, RSTART - 1)
            mark = substr(rest, RSTART, 1)
            rest = substr(rest, RSTART)
            if (mark == "/") {
                if (substr(rest, 2, 1) == "/") break
                comment = 1; rest = substr(rest, 3)
            } else if (mark == "\"" || mark == quote) {
                body = ""; rest = substr(rest, 2)
                while (match(rest, mark == "\"" ? "[\\\\\"]" : "[\\\\\047]") &&
                       substr(rest, RSTART, 1) == "\\") {
                    body = body substr(rest, 1, RSTART + 1)
                    rest = substr(rest, RSTART + 2)
                }
                body = body substr(rest, 1, RSTART - 1)
                rest = substr(rest, RSTART + 1)
                code = code mark mark
                if (mark == "\"") text = text body
            } else {
                rest = substr(rest, 2)
                depth += (mark == "{") - (mark == "}")
                flush()
                if (mark == "}" && depth <= 0) { print FNR "\t}\t"; depth = 0 }
            }
        }
        code = code " "
    }
    END { flush() }' "$1"
}

# What is wrong with the statements of a file.
judge() { # FILE
    awk -F '\t' -v file="$1" -v bytes="^($bytes)\$" -v copies="^($copies)\$" \
        -v prints="^($prints)\$" -v formats="^($formats)\$" -v quotes="^($quotes)\$" \
        -v starts="^($starts)\$" -v moves="^($moves)\$" -v tables="^($tables)\$" '
    function wrong(why) { print file ":" $1 ": " why }
    function calls(names) { return code ~ ("(^|[^a-z0-9_])(" names ")[ ]*\\(") }
    # Argument number `n` of the first call of `names`.
    function argument(names, n,   rest, depth, c, i, from) {
        match(code, "(^|[^a-z0-9_])(" names ")[ ]*\\(")
        rest = substr(code, RSTART + RLENGTH)
        from = 1
        for (i = 1; i <= length(rest); i++) {
            c = substr(rest, i, 1)
            depth += (c == "(") - (c == ")")
            if (depth < 0) break
            if (depth > 0 || c != ",") continue
            if (--n == 0) break
            from = i + 1
        }
        return substr(rest, from, i - from)
    }
    # Is it a literal, a choice of literals, or a constant?
    function is_ours(given) {
        gsub(/PRI[a-zA-Z0-9]+/, "", given)
        sub(/#[a-z]+ *$/, "", given)
        if (given ~ /^ *[A-Z_]+(\[[^]]*\])?([.][a-z_]+)? *$/) return 1
        if (given ~ /^ *const char \*/) return 1 # a declaration
        if (given !~ /(""|\047\047|[A-Z_]) *$/) return 0
        return given !~ /[a-z]/ ||
               (given ~ /\?/ && given !~ /[?:] *[a-z]/)
    }
    function format(names, n) {
        if (calls(names) && !is_ours(argument(names, n)))
            wrong("a format that is a text: want \"%s\"")
    }
    BEGIN {
        TEXT = "%[-+ #0]*[0-9*]*([.][0-9*]*)?[sc]"
        HTML = "</?[a-z][a-z0-9]*([ >]|/>|$)|<!doctype|&(lt|gt|amp|quot|times);"
        PLOT = "(^|n|[;,] *)(un)?set (title|[xy]label|label|[xy]tics|terminal|" \
            "output|key|format|style|object|arrow|[xy]range|logscale|grid|" \
            "border|encoding|multiplot|datafile)|(^|n| )plot [$\047\"]|" \
            "<< *[A-Z]+_?END|lc rgb|(^|n|; *)system *[\"\047(]"
        PYTHON = "(^|n)(import |from [a-z]+ import |def [a-z%]|with torch)|" \
            "torch[.](ops|%)|getattr\\(|[.]backward\\(|__import__"
        SHELL = "(^|[;&|(] *)exec |/bin/sh|(^|[^a-z])(ba)?sh -c|2>&1|" \
            "[<>] *[/]dev[/]null|mpirun |command -v|\\$\\("
        TABLE = "[|] " TEXT " [|]"
        CELLS = TEXT ",%|," TEXT
        JSON = "[\\\\]\": *([\\\\]\")?" TEXT
        ESCAPE = "[\\\\](033|x1[bB]|e\\[)"
    }
    { code = $2; text = $3; texts = text ~ TEXT }
    code == "}" {
        for (of in uses)
            if (uses[of] && of in plain)
                print file ":" plain[of] ": a text by another writer in what " \
                    "writes " of
        split("", uses); split("", plain)
        next
    }
    file !~ prints && calls("v?f?printf|vd?printf|dprintf") &&
    (texts || text == "") {
        wrong("a text by printf: want msim_print, or the writer of its language")
    }
    calls("fputs|puts|fputs_unlocked") &&
    !is_ours(argument("fputs|puts|fputs_unlocked", 1)) {
        wrong("a text by fputs: want msim_print, or the writer of its language")
    }
    file !~ copies && calls("f?putc|putchar|putc_unlocked") &&
    !is_ours(argument("f?putc|putchar|putc_unlocked", 1)) {
        wrong("a character of a text: want the writer of its language")
    }
    file !~ prints && file !~ formats {
        format("printf|msim_message|msim_message_warning", 1)
        format("fprintf|dprintf|msim_print|msim_print_title|msim_html_print|" \
            "msim_markdown_print|" \
            "msim_gnuplot_print|msim_csv_print|msim_csv_print_draft|" \
            "msim_text_add", 2)
        format("snprintf|msim_shell_print|msim_text_append", 3)
        format("msim_fail", 5)
    }
    file !~ bytes && calls("fwrite|fwrite_unlocked|gzwrite|gzputs|gzprintf") {
        wrong("raw bytes: want the writer of their language")
    }
    # What is put together first gets out later.
    texts && text ~ HTML && !calls("msim_html_print") {
        wrong("HTML around a text: want msim_html_print")
    }
    file !~ tables && texts && text ~ TABLE && !calls("msim_markdown_print") {
        wrong("Markdown around a text: want msim_markdown_print")
    }
    texts && text ~ PLOT && !calls("msim_gnuplot_print") {
        wrong("gnuplot around a text: want msim_gnuplot_print")
    }
    texts && text ~ PYTHON && !calls("msim_text_add") {
        wrong("Python around a text: want msim_text_add")
    }
    file !~ quotes && texts && text ~ SHELL && !calls("msim_shell_print") {
        wrong("a command line around a text: want msim_shell_print")
    }
    texts && text ~ CELLS && !calls("msim_csv_print(_draft)?") {
        wrong("cells around a text: want msim_csv_print")
    }
    texts && text ~ JSON { wrong("JSON around a text: want msim_json_text") }
    texts && text ~ HTML && text ~ "(href|src|action)=|url\\(" {
        wrong("an address from elsewhere in HTML")
    }
    text ~ HTML && text ~ ("=" TEXT) { wrong("an attribute without quotes") }
    calls("msim_text_(put|bytes)") &&
    code ~ /msim_trace_text|->name|[.]name|->title/ {
        wrong("a text of a trace as Python: want msim_text_add or _word")
    }
    # A tag, and then a text that is not escaped.
    text ~ HTML { uses["HTML"] = 1 }
    text ~ PLOT { uses["gnuplot"] = 1 }
    texts && calls("msim_print|msim_csv_print|msim_csv_write") {
        plain["HTML"] = plain["gnuplot"] = $1
    }
    file !~ moves && text ~ ESCAPE {
        wrong("an escape sequence for terminals")
    }
    file !~ starts &&
    calls("system|popen|exec[lv][pe]*|fexecve|posix_spawnp?|v?fork|wordexp") {
        wrong("starts a program: want msim_program_run, without a shell")
    }' <(statements "$1")
}

rooms='^(core|models|predict|plan|replay|profilers|calibrate|cli)/'
while IFS= read -r file; do
    while IFS= read -r fault; do
        complain "$fault"
    done < <(judge "$file")
done < <(project_files '*.c' '*.h' '*.cu' '*.cuh' | grep -E "$rooms")

# Python and the shell, where they would run a text.
forbid() { # FILES WHY PATTERN
    local fault
    while IFS= read -r fault; do
        complain "${fault%%:*}:$(cut -d: -f2 <<<"$fault"): $2"
    done < <(project_files '*.py' '*.in' '*.sh' '*.bash' |
        grep -E "^(scripts|profilers|replay)/.*\.$1\$" |
        tr '\n' '\0' | xargs -0 grep -nE -- "$3" /dev/null || true)
}
forbid '(py|in)' "runs a text" \
    '(^|[^A-Za-z0-9_.])(eval|exec|compile|__import__)\(|os\.(system|popen|exec)'
forbid '(py|in)' "a command line for a shell" 'shell *= *True|getoutput\('
forbid '(py|in)' "an object that may run code when it is read" \
    '(pickle|marshal|dill|joblib)\.loads?\(|torch\.load\(|yaml\.(unsafe_)?load\('
forbid '(sh|bash)' "runs a text" \
    '(^|[;&|( ])eval |(ba)?sh -c "[^"]*\$|(ba)?sh -c \$'

finish writers
