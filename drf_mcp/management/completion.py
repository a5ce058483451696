"""Scripts that have a shell complete the names of tools."""

from __future__ import annotations

from collections.abc import Mapping

BASH = """\
# The names of tools for manage.py. Add to ~/.bashrc:
#   eval "$(python manage.py mcp_tools --completion bash)"
_drf_mcp_tools() {
    local word=${COMP_WORDS[COMP_CWORD]} place=0 command="" index
    COMPREPLY=()
    for ((index = 0; index < COMP_CWORD; index++)); do
        [[ ${COMP_WORDS[index]} == *manage.py ]] && place=$index
    done
    command=${COMP_WORDS[place + 1]}
    [[ $command == mcp_call || $command == mcp_tools || $command == mcp_token ]] || return
    # Starting Django takes a moment: names are kept for a minute.
    if [[ $_drf_mcp_folder != "$PWD" || $((SECONDS - ${_drf_mcp_read:-0})) -gt 60 ]]; then
        _drf_mcp_names=$("${COMP_WORDS[@]:0:place + 1}" mcp_tools --names 2>/dev/null)
        _drf_mcp_folder=$PWD _drf_mcp_read=$SECONDS
    fi
    COMPREPLY=($(compgen -W "$_drf_mcp_names" -- "$word"))
}
complete -o default -F _drf_mcp_tools manage.py ./manage.py python python3
"""

ZSH = """\
# The names of tools for manage.py. Add to ~/.zshrc, after compinit:
#   eval "$(python manage.py mcp_tools --completion zsh)"
autoload -U +X bashcompinit && bashcompinit
"""

SCRIPTS: Mapping[str, str] = {"bash": BASH, "zsh": ZSH + BASH.partition("\n")[2].partition("\n")[2]}
