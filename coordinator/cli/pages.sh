#!/bin/sh
# pages.sh BINARY DIR: writes manual pages and completion scripts, as BINARY prints them, to DIR/man and so on.
set -e
rm -rf "$2"
mkdir -p "$2/man/man1" "$2/bash-completion/completions" "$2/zsh/site-functions"
"$1" help --man > "$2/man/man1/thresh.1"
for command in $("$1" help | sed -n 's/^  \([a-z][a-z-]*\)\(  *[A-Z].*\)*$/\1/p'); do
    "$1" help --man "$command" > "$2/man/man1/thresh-$command.1"
done
"$1" completion bash > "$2/bash-completion/completions/thresh"
"$1" completion zsh > "$2/zsh/site-functions/_thresh"
