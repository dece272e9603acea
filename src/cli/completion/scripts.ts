/** What each shell is to run so that TAB asks `lkm` for the words that may come next. */
export const scripts = { bash, zsh, fish, powershell } as const satisfies Record<string, () => string>;

export type Shell = keyof typeof scripts;

/** Several candidates are listed with what they are; the only one left is inserted without it. */
function bash(): string {
  return `_lkm() {
  local typed=\${COMP_WORDS[COMP_CWORD]} word about
  local -a words=() texts=()
  [[ $typed == '=' ]] && typed=
  while IFS=$'\\t' read -r word about; do
    if [[ $word == ':files' ]]; then
      compopt -o default
      return
    fi
    # bash takes the part behind an = for a word of its own.
    [[ $word == --*=* ]] && word=\${word#*=}
    [[ $word == "$typed"* ]] || continue
    words+=("$word")
    texts+=("$word\${about:+  ($about)}")
  done < <(lkm __complete "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
  if ((\${#words[@]} == 1)); then COMPREPLY=("\${words[0]}"); else COMPREPLY=("\${texts[@]}"); fi
}
complete -F _lkm lkm
`;
}

function zsh(): string {
  return `#compdef lkm
_lkm() {
  local line word about
  local -a candidates
  for line in "\${(@f)$(lkm __complete "\${(@)words[2,CURRENT]}" 2>/dev/null)}"; do
    [[ -z $line ]] && continue
    if [[ $line == ':files' ]]; then
      _files
      return
    fi
    word=\${line%%$'\\t'*}
    about=\${line#*$'\\t'}
    [[ $about == "$line" ]] && about=
    candidates+=("\${word//:/\\\\:}:$about")
  done
  _describe -V 'lkm' candidates
}
if [[ \${funcstack[1]} == _lkm ]]; then _lkm "$@"; else compdef _lkm lkm; fi
`;
}

function fish(): string {
  return `function __lkm_complete
    set -l words (commandline -opc)
    set -l candidates (lkm __complete $words[2..] (commandline -ct) 2>/dev/null)
    if test "$candidates" = ':files'
        __fish_complete_path (commandline -ct)
    else
        printf '%s\\n' $candidates
    end
end
complete -c lkm -f -a '(__lkm_complete)'
`;
}

function powershell(): string {
  return `Register-ArgumentCompleter -Native -CommandName lkm -ScriptBlock {
  param($typed, $line, $position)
  $words = @($line.CommandElements | Select-Object -Skip 1 | ForEach-Object { $_.ToString() })
  if ($typed -eq '') { $words += '""' }
  lkm __complete @words 2>$null | ForEach-Object {
    $word, $about = $_ -split "\`t", 2
    if ($word -ne ':files') {
      if (-not $about) { $about = $word }
      [System.Management.Automation.CompletionResult]::new($word, $word, 'ParameterValue', $about)
    }
  }
}
`;
}
