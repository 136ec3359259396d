# fish completion for mystique-sim. Everything is asked of the program itself,
# so that new verbs, options and platforms are there at once.

function __mystique_sim_verbs
    mystique-sim --help 2>/dev/null | awk '/^verbs:/ { on = 1; next }
        on && NF == 0 { exit }
        on && /^  [a-z]/ { v = $1; $1 = ""; print v "\t" substr($0, 2) }'
end

function __mystique_sim_options
    set -l verb predict
    for word in (commandline -opc)[2..-1]
        if contains -- $word (__mystique_sim_verbs | string split -f1 \t)
            set verb $word
            break
        end
    end
    mystique-sim $verb --help 2>/dev/null | awk '/^  --?[a-z]/ { sub(/,$/, "", $1); print $1 }'
end

function __mystique_sim_platforms
    mystique-sim platforms 2>/dev/null | awk 'NR > 1 && NF { print $1 }'
end

function __mystique_sim_data
    set -l folder (dirname (command -s mystique-sim))/../share/mystique-sim
    set -q MSIM_DATA; and set folder $MSIM_DATA
    for file in $folder/$argv[1]/*.json
        basename $file .json
    end
end

complete -c mystique-sim -n __fish_use_subcommand -a '(__mystique_sim_verbs)'
complete -c mystique-sim -n 'string match -q -- "-*" (commandline -ct)' \
    -a '(__mystique_sim_options)'
complete -c mystique-sim -l platform -l source-platform -x \
    -a '(__mystique_sim_platforms)'
complete -c mystique-sim -l host -r -a '(__mystique_sim_data hosts)'
complete -c mystique-sim -l network -r -a '(__mystique_sim_data networks)'
complete -c mystique-sim -l costs -x -a 'auto measured model scaled'
complete -c mystique-sim -l peers -x -a 'fixed follow'
complete -c mystique-sim -n '__fish_seen_subcommand_from platforms' \
    -a '(__mystique_sim_platforms)'
complete -c mystique-sim -n '__fish_seen_subcommand_from help' \
    -a '(__mystique_sim_verbs)'
complete -c mystique-sim -n '__fish_seen_subcommand_from schema' \
    -a '(mystique-sim schema 2>/dev/null)'
