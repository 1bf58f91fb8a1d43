# SPDX-License-Identifier: Apache-2.0
# Completion of djtap's command line in fish: `source scripts/completion.fish`.
# Options come from `djtap --help`; inside of func("...") and function("...") the names come from the program
# that -c, -p or -- names on the same line.

# The words that follow `-x VALUE` for an option's value; nothing: a file.
function __djtap_values
    set -l before (commandline -opc)[-1]
    switch $before
        case -f --format
            string split ' ' 'text json csv plugin:chrome plugin:csv plugin:flame plugin:json plugin:prometheus'
        case --guards
            string split ' ' 'needed all none'
        case --stop-after
            string split ' ' 'parse check resolve lower patch'
        case --diagnostics
            string split ' ' 'text json'
        case --dump
            string split ' ' 'tokens ast program plan ir asm patches detours probes'
        case -D
            string split ' ' 'MAXACTION= MAXACTION_HOST= MAXBACKTRACE= MAXERRORS= MAXMAPENTRIES= MAXNESTING=' \
                'MAXSTRINGLEN= RINGBYTES= STRINGBYTES= CONTEXTS= TRAPCACHE='
        case -p -x clean
            string match -r '[0-9]+$' /proc/*
            readlink /proc/*/exe 2>/dev/null | string replace -r '.*/' '' | string replace ' (deleted)' '' | sort -u
        case kernel-build
            for folder in /lib/modules/* # a loop may have nothing to do
                string replace /lib/modules/ '' $folder
            end
    end
end

function __djtap_options
    $argv[1] --help 2>/dev/null | sed -n 's/^  \(-[^ ]*\).*/\1/p' | sed 's/{false}//; s/:.*//; s/,/\n/g'
end

# The options on the line that say which program is meant.
function __djtap_target
    set -l words (commandline -opc)
    for i in (seq 2 (count $words))
        switch $words[$i]
            case -c -p -x
                printf '%s\n' $words[$i] $words[(math $i + 1)]
                return
            case --
                printf '%s\n' $words[$i..-1]
                return
        end
    end
end

# Functions of the program whose names begin with the second argument, which may have "object!" before it.
function __djtap_functions
    set -l object (string match -r '^[^!]*!' -- $argv[2])
    set -l target (__djtap_target)
    test -n "$target"; or return
    timeout 5 $argv[1] -l "func(\"$argv[2]*\")" $target 2>/dev/null </dev/null |
        sed -n 's/.*\.function("\([^"@]*\).*/\1/p' | sort -u | sed "s|^|$object|"
end

# Whether there are words to offer, which __djtap_found holds then; else files are.
function __djtap_finds
    set -g __djtap_found (__djtap_words)
    test (count $__djtap_found) -gt 0
end

function __djtap_words
    set -l program (commandline -opc)[1]
    set -l word (commandline -ct | string replace -r '^[\'"]' '')
    set -l open (string match -r '^(.*(?:func|function)\(\\\\?")([^"]*)$' -- $word)
    if test (count $open) -eq 3
        for name in (__djtap_functions $program $open[3])
            echo (string replace -a '\\"' '"' -- $open[2])$name
        end
    else if string match -q -- '-*' $word
        __djtap_options $program
    else
        __djtap_values
    end
end

complete -c djtap -f -n __djtap_finds -a '$__djtap_found'
