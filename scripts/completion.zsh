#compdef djtap
# SPDX-License-Identifier: Apache-2.0
# Completion of djtap's command line in zsh: as _djtap in a folder of $fpath, or `source scripts/completion.zsh`.
# Options come from `djtap --help`; inside of func("...") and function("...") the names come from the program
# that -c, -p or -- names on the same line.

# The words that follow `-x VALUE` for an option's value; nothing: a file.
_djtap_values() {
  case $1 in
    -f | --format) print -l text json csv plugin:{chrome,csv,flame,json,prometheus} ;;
    --guards) print -l needed all none ;;
    --stop-after) print -l parse check resolve lower patch ;;
    --diagnostics) print -l text json ;;
    --dump) print -l tokens ast program plan ir asm patches detours probes ;;
    -D) print -l {MAXACTION,MAXACTION_HOST,MAXBACKTRACE,MAXERRORS,MAXMAPENTRIES,MAXNESTING,MAXSTRINGLEN,RINGBYTES,STRINGBYTES,CONTEXTS,TRAPCACHE}= ;;
    -p | -x | clean)
      print -l /proc/<->(N:t)
      readlink /proc/<->/exe(N) | sed 's|.*/||; s/ (deleted)$//' | sort -u
      ;;
    kernel-build) print -l /lib/modules/*(N:t) ;;
  esac
}

_djtap_options() {
  "$1" --help 2>/dev/null | sed -n 's/^  \(-[^ ]*\).*/\1/p' | sed 's/{false}//; s/:.*//; s/,/\n/g'
}

# The options on the line that say which program is meant.
_djtap_target() {
  local i
  for ((i = 2; i <= $#words; i++)); do
    case $words[i] in
      -c | -p | -x) print -lr -- "$words[i]" "${(Q)words[i+1]}"; return ;;
      --) print -lr -- "${(Q)words[i,-1]}"; return ;;
    esac
  done
}

# Functions of the program whose names begin with $2, which may have "object!" before it.
_djtap_functions() {
  local object= target
  target=("${(@f)$(_djtap_target)}")
  [[ -n $target ]] || return
  [[ $2 == *!* ]] && object=${2%%!*}!
  timeout 5 "$1" -l "func(\"$2*\")" $target 2>/dev/null </dev/null |
    sed -n 's/.*\.function("\([^"@]*\).*/\1/p' | sort -u | sed "s|^|$object|"
}

_djtap() {
  local program=${(Q)words[1]} word=$PREFIX before=$words[CURRENT-1] head
  local -a found match
  if [[ $word =~ '^(.*(func|function)\(\\?")([^"]*)$' ]]; then
    head=$match[1]
    found=(${(f)"$(_djtap_functions $program $match[3])"})
    (($#found)) && compadd -Q -S '' -- $head$^found
  elif [[ $word == -* ]]; then
    compadd -- ${(f)"$(_djtap_options $program)"}
  else
    found=(${(f)"$(_djtap_values $before)"})
    if (($#found)); then
      if [[ $found[1] == *= ]]; then compadd -S '' -- $found; else compadd -- $found; fi
    elif ((! ${+functions[_files]})) || ! _files; then
      return 1
    fi
  fi
}

if [[ $funcstack[1] == _djtap ]]; then _djtap "$@"; elif ((${+functions[compdef]})); then compdef _djtap djtap; fi
