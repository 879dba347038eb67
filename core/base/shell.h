/* Words of a command line as a shell reads them back: a.b stays a.b, it's becomes 'it'\''s'. */
#ifndef THRESH_BASE_SHELL_H
#define THRESH_BASE_SHELL_H

struct strbuf;

/* Appends a word, in single quotes unless no shell changes it. */
void shell_add_word(struct strbuf *b, const char *word);

#endif
