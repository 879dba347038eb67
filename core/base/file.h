/* Result files that are complete or not there.
 *
 * A file is written under another name in the same folder, forced to the disk, and then renamed, so that a
 * full disk, a file-size limit or a power failure leaves the earlier file as it was:
 *
 *     struct file_new f;
 *     bool ok = file_begin(&f, "out/best.json", d);
 *     if (ok) fprintf(f.out, ...);
 *     ok = ok && file_end(&f, d);
 *
 * What is not a regular file (/dev/stdout, a named pipe) is written in place. */
#ifndef THRESH_BASE_FILE_H
#define THRESH_BASE_FILE_H

#include <stdbool.h>
#include <stdio.h>

struct diag;

/* A file that is being written. */
struct file_new {
    FILE *out;       /* where the content goes; errors are found by file_end() */
    char *path;      /* the file that is replaced; a symbolic link is followed */
    char *temporary; /* the name until then; NULL: written in place */
};

/* Creates the temporary file. false after adding an error; then there is nothing to end. */
bool file_begin(struct file_new *f, const char *path, struct diag *d);
/* Completes and renames it. false after adding an error: the temporary file is removed and an earlier file
 * stays as it was. Releases f in any case. */
bool file_end(struct file_new *f, struct diag *d);
/* Removes the temporary file: the content could not be made. Releases f. */
void file_drop(struct file_new *f);

/* A file with its whole content. Both are borrowed. */
struct file_text {
    const char *path, *text;
};
/* Writes n files. All are complete on the disk before the first one is renamed. false after adding an error
 * for each that failed; if that was before the renaming, no file has changed. */
bool file_write(const struct file_text *files, size_t n, struct diag *d);

/* What errno says, with the setting that is the likely cause where there is one: "File too large (limit of
 * file sizes: ulimit -f)". */
const char *file_error_text(int error);

/* Why the file or folder `path` could not be created, for a message. error: errno. "folder '/missing' does
 * not exist (create it first)" if its folder is missing. The caller frees the text. */
char *file_create_fault(const char *path, int error);

/* Why a stream did not take all that was written to it, as a number of errno; 0: it took everything. The
 * reason of an earlier failure is looked for without writing; EIO: it was not found. */
int file_stream_error(FILE *out);

/* Has the signals ignored that would end this process where a write fails: SIGXFSZ (file-size limit) and
 * SIGPIPE (nobody reads). write() then returns EFBIG or EPIPE. Programs that are started inherit this. */
void file_ignore_signals(void);

#endif
