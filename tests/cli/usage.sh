#!/usr/bin/env bash
# Wrong command lines: exit code 2, a message that says what was wanted.
. "$(dirname "$0")/hold.bash"
hold_runs

usage_error "want a trace or a verb, got nothing"
usage_error "unknown verb 'inof', did you mean 'info'?" inof
usage_error "unknown verb 'prdict', did you mean 'predict'?" prdict x
usage_error "'sandwich' is neither a verb nor a file" sandwich
usage_error "'whatif' is a verb, want it first: 'mystique-sim whatif [OPTION]...'" \
    --platform a100 whatif s.json run
usage_error "'kimi-k2' is a described model, want a trace; 'whatif', 'synth'" \
    --platform a100 kimi-k2
usage_error "unknown verb 'inf', did you mean 'info'?" help inf

usage_error "unknown option '--platfrom', did you mean '--platform'?" \
    --platfrom a100 x.json
usage_error "unknown option '--platfrom', did you mean '--platform'?" \
    --platfrom=a100 x.json
usage_error "unknown option '--jsn', did you mean '--json'?" info --jsn x.json
usage_error "unknown option '--sandwich', see 'mystique-sim predict --help'" \
    --sandwich x.json
usage_error "unknown option '-x'" -x x.json
usage_error "unknown option '--bogus'" op --bogus
usage_error "unknown option '--bogus'" platforms --bogus

usage_error "'convert' wants TRACE|DIR... -o OUT, got nothing" convert
usage_error "'convert' wants -o OUT, the file to write" convert x.json
usage_error "option '-o' wants OUT, got nothing" convert x.json -o
usage_error "option '-o' is '-', want a file" convert x.json -o -
usage_error "unknown option '-p', did you mean '-o'?" convert x.json -p y
usage_error "'info' wants TRACE|DIR..., got nothing" info
usage_error "'predict' wants TRACE|DIR..., got nothing" predict
usage_error "'predict' wants TRACE|DIR..., got nothing" --json
usage_error "option '--platform' wants NAME|FILE[,...], got nothing" --platform
usage_error "option '--platform' wants NAME|FILE[,...], got --json" \
    --platform --json x.json
usage_error "option '--platform' is empty, want NAME|FILE" --platform= x.json
usage_error "option '--json' takes no value, got '1'" --json=1 x.json
usage_error \
    "option '--costs' is 'guess', want one of auto|measured|model|scaled" \
    --costs guess x.json
usage_error "got --source-platform with '--costs model', want it with" \
    --costs model --source-platform a100 x.json
usage_error "got --source-platform with '--costs measured', want it with" \
    --costs measured --source-platform a100 x.json
usage_error "unknown platform 'nosuch'" --source-platform nosuch x.json
usage_error "option '--threads' is '0', want a whole number from 1 to 64" \
    --threads 0 x.json
usage_error "option '--threads' is '99999999999999999999'" \
    --threads 99999999999999999999 x.json
usage_error "option '--iteration' is 'last', want 'all' or the number" \
    --iteration last x.json
usage_error "option '--iteration' is '-1'" --iteration -1 x.json
usage_error "scale is 'kernels', want SELECT=FACTOR" --scale kernels x.json
usage_error "cannot scale 'kernel', want kernels, communication, copies" \
    --scale kernel=2 x.json
usage_error "factor of 'host=-1' is '-1', want a number >= 0" \
    --scale host=-1 x.json
usage_error "factor of 'op:aten::mm=nan' is 'nan'" \
    --scale op:aten::mm=nan x.json
usage_error "got both --json and --csv, want one of them" --json --csv x.json
usage_error "option '--chart' is 'c.pdf', want a file that ends in .svg or" \
    --chart c.pdf x.json
usage_error "option '--timeline' is '-', want a file" --timeline - x.json

# A name cannot drive the terminal through a message.
usage_error "unknown option '--?[31m'" $'--\e[31m' x.json

# Data in a wrong place is said, not guessed.
MSIM_DATA=$folder/nowhere usage_error "MSIM_DATA is '$folder/nowhere'" platforms

finish
