# Completion of zsetd for bash: options, settings, and the values of settings that have a fixed set.
_zsetd() {
  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} program=${COMP_WORDS[0]} values
  COMPREPLY=()
  if [[ $word == --* ]]; then
    mapfile -t COMPREPLY < <(compgen -W "--check-config --help --version --list-settings
      $("$program" --list-settings 2>/dev/null | tail -n +2 | cut -f 1 | sed 's/^/--/')" -- "$word")
    return
  fi
  if [[ $before == --help ]]; then
    mapfile -t COMPREPLY < <(compgen -W all -- "$word")
    return
  fi
  if [[ $before == --* ]]; then
    values=$("$program" --list-settings 2>/dev/null |
      awk -F '\t' -v name="${before#--}" '$1 == name && $5 ~ /\|/ { gsub(/\|/, " ", $5); print $5 }')
    if [[ $values ]]; then
      mapfile -t COMPREPLY < <(compgen -W "$values" -- "$word")
      return
    fi
  fi
  compopt -o filenames 2>/dev/null
  mapfile -t COMPREPLY < <(compgen -f -- "$word")
}
complete -F _zsetd zsetd
