# SPDX-License-Identifier: Apache-2.0
# Completion of djtap's command line in bash: `source scripts/completion.bash`.
# Options come from `djtap --help`; inside of func("...") and function("...") the names come from the program
# that -c, -p or -- names on the same line.

# The words that follow `-x VALUE` for an option's value; nothing: a file.
_djtap_values() {
  case $1 in
    -f | --format) echo "text json csv plugin:chrome plugin:csv plugin:flame plugin:json plugin:prometheus" ;;
    --guards) echo "needed all none" ;;
    --stop-after) echo "parse check resolve lower patch" ;;
    --diagnostics) echo "text json" ;;
    --dump) echo "tokens ast program plan ir asm patches detours probes" ;;
    -D) echo "MAXACTION= MAXACTION_HOST= MAXBACKTRACE= MAXERRORS= MAXMAPENTRIES= MAXNESTING= MAXSTRINGLEN= RINGBYTES= STRINGBYTES= CONTEXTS= TRAPCACHE=" ;;
    -p | -x | clean) (cd /proc && echo [0-9]* && readlink [0-9]*/exe | sed 's|.*/||; s/ (deleted)$//' | sort -u) ;;
    kernel-build) (cd /lib/modules 2>/dev/null && echo *) ;;
  esac
}

_djtap_options() {
  "$1" --help 2>/dev/null | sed -n 's/^  \(-[^ ]*\).*/\1/p' | sed 's/{false}//; s/:.*//; s/,/ /g'
}

# The options on the line that say which program is meant.
_djtap_target() {
  local i
  for ((i = 1; i < ${#COMP_WORDS[@]}; i++)); do
    case ${COMP_WORDS[i]} in
      -c | -p | -x) printf '%s\n' "${COMP_WORDS[i]}" "${COMP_WORDS[i + 1]}" && return ;;
      --) printf '%s\n' "${COMP_WORDS[@]:i}" && return ;;
    esac
  done
}

# Functions of the program whose names begin with $2, which may have "object!" before it.
_djtap_functions() {
  local target word object=
  mapfile -t target < <(_djtap_target)
  ((${#target[@]})) || return
  case $2 in *!*) object=${2%%!*}! ;; esac
  for word in "${!target[@]}"; do # as the shell would unquote it
    [ "${target[word]}" = -- ] || { target[word]=${target[word]#[\"\']} && target[word]=${target[word]%[\"\']}; }
  done
  timeout 5 "$1" -l "func(\"$2*\")" "${target[@]}" 2>/dev/null </dev/null |
    sed -n 's/.*\.function("\([^"@]*\).*/\1/p' | sort -u | sed "s|^|$object|"
}

_djtap() {
  local program=$1 word=$2 before=$3 head name
  COMPREPLY=()
  if [[ $word =~ ^(.*(func|function)\(\")([^\"]*)$ ]]; then
    head=${BASH_REMATCH[1]} name=${BASH_REMATCH[3]}
    mapfile -t COMPREPLY < <(_djtap_functions "$program" "$name" | sed "s|^|${head//&/\\&}|")
    compopt -o nospace 2>/dev/null
  elif [[ $word == -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$(_djtap_options "$program")" -- "$word")
  elif [[ $word == plugin:* || $before == : ]]; then
    mapfile -t COMPREPLY < <(compgen -W "chrome csv flame json prometheus" -- "${word#plugin:}")
  else
    mapfile -t COMPREPLY < <(compgen -W "$(_djtap_values "$before")" -- "$word")
    [[ ${COMPREPLY[0]} == *= ]] && compopt -o nospace 2>/dev/null
  fi
}

complete -o default -F _djtap djtap
