#!/bin/sh
# Moves a program's debug information out of it, as Debian (a file next to it) or Fedora (inside it) do.
#   separate_debug.sh debuglink|minidebug PROGRAM
set -e
way=$1 program=$2 folder=$(dirname "$2")
case $way in
debuglink)  # PROGRAM.debug next to it, named in .gnu_debuglink
  objcopy --only-keep-debug "$program" "$program.debug"
  strip -s "$program"
  (cd "$folder" && objcopy --add-gnu-debuglink="$(basename "$program").debug" "$(basename "$program")")
  ;;
minidebug)  # only the function symbols, xz-compressed, in .gnu_debugdata
  nm "$program" --format=posix --defined-only | awk '$2 == "T" || $2 == "t" {print $1}' | sort -u >"$program.keep"
  objcopy --only-keep-debug "$program" "$program.full"
  objcopy -S --remove-section .comment --keep-symbols="$program.keep" "$program.full" "$program.mini"
  rm -f "$program.mini.xz"
  xz "$program.mini"
  strip -s "$program"
  objcopy --add-section .gnu_debugdata="$program.mini.xz" "$program"
  rm -f "$program.keep" "$program.full" "$program.mini.xz"
  ;;
esac
# SPDX-License-Identifier: Apache-2.0
