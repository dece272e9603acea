/** The completion script of each shell: at TAB it asks `lkm` for candidates. */
export const scripts = { bash, zsh, fish, powershell } as const satisfies Record<string, () => string>;

export type Shell = keyof typeof scripts;

/** Lists several candidates with their descriptions; inserts a single candidate without it. */
function bash(): string {
  return `_lkm() {
  local line=\${COMP_LINE:0:COMP_POINT} piece typed blanks word about isQuoted i last=-1
  local -a given=() words=() texts=()
  # bash takes = and : for words of their own; in the line they touch what is before and behind them.
  for ((i = 0; i <= COMP_CWORD; i++)); do
    blanks=\${line%%[![:space:]]*}
    line=\${line#"$blanks"}
    piece=\${COMP_WORDS[i]}
    ((i == COMP_CWORD)) && piece=$line
    if [[ -n $blanks || $last -lt 0 ]]; then given[++last]=$piece; else given[last]+=$piece; fi
    line=\${line#"$piece"}
  done
  [[ $piece == [=:]* ]] && piece=
  [[ $piece == [\\"\\']* ]] && isQuoted=yes
  given=("\${given[@]//[\\"\\'\\\\]/}")
  piece=\${piece//[\\"\\'\\\\]/}
  typed=\${given[last]}
  while IFS=$'\\t' read -r word about; do
    if [[ $word == ':files' ]]; then
      compopt -o default
      return
    fi
    [[ $word == "$typed"* ]] || continue
    # Only the last piece is replaced.
    word=\${word#"\${typed%"$piece"}"}
    [[ -z $isQuoted && $word == *[!A-Za-z0-9_@%+=:,./-]* ]] && printf -v word %q "$word"
    words+=("$word")
    texts+=("$word\${about:+  ($about)}")
  done < <(lkm __complete "\${given[@]:1}" 2>/dev/null)
  if ((\${#words[@]} == 1)); then COMPREPLY=("\${words[0]}"); else COMPREPLY=("\${texts[@]}"); fi
}
complete -F _lkm lkm
`;
}

function zsh(): string {
  return `#compdef lkm
_lkm() {
  local line word about
  local -a candidates given=("\${(@Q)words[2,CURRENT]}")
  # A quote that is still open.
  given[-1]=\${given[-1]#[\\"\\']}
  for line in "\${(@f)$(lkm __complete "\${(@)given}" 2>/dev/null)}"; do
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
    set -l typed (string unescape -- (commandline -ct); or string trim --left --chars '\\'"' -- (commandline -ct))
    set -l candidates (lkm __complete $words[2..] $typed 2>/dev/null)
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
  $words = @($line.CommandElements | Select-Object -Skip 1 | ForEach-Object { $_.ToString().Trim("'", '"') })
  if ($typed -eq '') {
    # Before PowerShell 7.3 an empty word is not handed on.
    $words += if ($PSNativeCommandArgumentPassing -in $null, 'Legacy') { '""' } else { '' }
  }
  lkm __complete @words 2>$null | ForEach-Object {
    $word, $about = $_ -split "\`t", 2
    if ($word -ne ':files') {
      if (-not $about) { $about = $word }
      $inserted = if ($word.Contains(' ')) { "'$word'" } else { $word }
      [System.Management.Automation.CompletionResult]::new($inserted, $word, 'ParameterValue', $about)
    }
  }
}
`;
}
