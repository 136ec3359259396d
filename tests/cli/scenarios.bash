# Shared by tests of whatif: rows of its CSV in $folder/out, by the scenario's name.

figures() { # NAME: all figures of that scenario but the ratio
    grep -E "^\"?$1\"?," "$folder/out" | sed -E 's/^("[^"]*"|[^,]*),//' | cut -d, -f1-3,7-
}
reason() { grep -E "^\"?$1\"?," "$folder/out"; }
