/* core/base/file: a file is complete or as it was, whatever fails. */
#include "core/base/file.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <errno.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/diag.h"
#include "core/base/strbuf.h"
#include "tests/e2e/run.h"

enum { LIMIT = 4096 };

/* DIR/NAME; the caller frees it. */
static char *path_in(const char *dir, const char *name)
{
    struct strbuf b = {0};
    strbuf_printf(&b, "%s/%s", dir, name);
    return strbuf_take(&b);
}

/* The content; "" if there is no such file. The caller frees it. */
static char *content_of(const char *path)
{
    struct diag *d = diag_new();
    size_t n;
    char *text = source_read_file(path, 1 << 20, &n, d);
    diag_free(d);
    return text ? text : strdup("");
}

static unsigned count_entries(const char *dir)
{
    unsigned n = 0;
    DIR *list = opendir(dir);
    cr_assert_not_null(list);
    for (struct dirent *e; (e = readdir(list));)
        n += e->d_name[0] != '.';
    closedir(list);
    return n;
}

static void expect_content(const char *path, const char *text)
{
    char *got = content_of(path);
    cr_expect_str_eq(got, text, "%s", path);
    free(got);
}

static bool write_one(const char *path, const char *text, struct diag *d)
{
    return file_write(&(struct file_text){path, text}, 1, d);
}

/* Files above `bytes` cannot be written from here on; RLIM_INFINITY: no limit. */
static void limit_files(rlim_t bytes)
{
    struct rlimit limit;
    cr_assert_eq(getrlimit(RLIMIT_FSIZE, &limit), 0);
    limit.rlim_cur = bytes == RLIM_INFINITY ? limit.rlim_max : bytes;
    cr_assert_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

/* A text that exceeds LIMIT; the caller frees it. */
static char *long_text(void)
{
    char *text = calloc(3 * LIMIT + 1, 1);
    cr_assert_not_null(text);
    return memset(text, 'x', 3 * LIMIT);
}

Test(file, replaces_the_earlier_one_and_keeps_its_permissions)
{
    char dir[32];
    struct stat st;
    struct diag *d = diag_new();
    e2e_folder(dir);
    char *path = path_in(dir, "a");
    cr_assert(write_one(path, "one", d) && chmod(path, 0640) == 0 && write_one(path, "two", d));
    expect_content(path, "two");
    cr_assert(stat(path, &st) == 0 && (st.st_mode & 0777) == 0640, "%o", st.st_mode);
    cr_expect_eq(count_entries(dir), 1);
    unlink(path);
    rmdir(dir);
    free(path);
    diag_free(d);
}

Test(file, follows_a_symbolic_link)
{
    char dir[32];
    struct stat st;
    struct diag *d = diag_new();
    e2e_folder(dir);
    char *path = path_in(dir, "a"), *name = path_in(dir, "link");
    cr_assert(write_one(path, "one", d) && symlink("a", name) == 0 && write_one(name, "two", d));
    expect_content(path, "two");
    cr_assert(lstat(name, &st) == 0 && S_ISLNK(st.st_mode));
    unlink(path);
    unlink(name);
    rmdir(dir);
    free(path);
    free(name);
    diag_free(d);
}

/* Of a set of files none changes if one of them does not fit. */
Test(file, a_size_limit_leaves_all_files_as_they_were)
{
    char dir[32];
    struct diag *d = diag_new();
    e2e_folder(dir);
    char *first = path_in(dir, "first"), *second = path_in(dir, "second"), *text = long_text();
    const struct file_text old[] = {{first, "old"}, {second, "old"}},
                           new[] = {{first, "new"}, {second, text}};
    cr_assert(file_write(old, 2, d));
    file_ignore_signals();
    limit_files(LIMIT);
    bool written = file_write(new, 2, d);
    limit_files(RLIM_INFINITY);
    cr_expect_not(written);
    cr_expect(strstr(diag_message(d, 0), "second': File too large (the limit of file sizes: ulimit -f)"),
              "%s", diag_message(d, 0));
    expect_content(first, "old");
    expect_content(second, "old");
    cr_expect_eq(count_entries(dir), 2);
    unlink(first);
    unlink(second);
    rmdir(dir);
    free(first);
    free(second);
    free(text);
    diag_free(d);
}

/* What was lost is told, with its reason as far as it can still be found, and nothing is added. */
Test(file, the_error_of_a_stream_is_found_without_writing)
{
    char dir[32];
    struct stat st;
    e2e_folder(dir);
    char *path = path_in(dir, "a"), *text = long_text();
    file_ignore_signals();
    FILE *out = fopen(path, "w");
    cr_assert_not_null(out);
    cr_expect_eq(file_stream_error(out), 0);
    limit_files(LIMIT);
    fputs(text, out);
    fflush(out);
    cr_expect_eq(file_stream_error(out), EFBIG);
    limit_files(RLIM_INFINITY);
    __fpurge(out);
    cr_expect_eq(file_stream_error(out), EIO, "the reason is gone, the failure is not");
    fclose(out);
    cr_expect(stat(path, &st) == 0 && st.st_size == LIMIT, "%ld", (long)st.st_size);
    int ends[2];
    cr_assert_eq(pipe(ends), 0);
    out = fdopen(ends[1], "w");
    close(ends[0]);
    fputs("text", out);
    fflush(out);
    __fpurge(out);
    cr_expect_eq(file_stream_error(out), EPIPE);
    fclose(out);
    unlink(path);
    rmdir(dir);
    free(path);
    free(text);
}

Test(file, devices_are_written_in_place)
{
    struct diag *d = diag_new();
    struct stat st;
    cr_expect(write_one("/dev/null", "text", d));
    cr_expect_not(write_one("/dev/full", "text", d));
    cr_expect(strstr(diag_message(d, 0), "'/dev/full': No space left on device"), "%s", diag_message(d, 0));
    cr_expect(stat("/dev/full", &st) == 0 && S_ISCHR(st.st_mode));
    diag_free(d);
}

Test(file, folders_and_missing_folders_are_refused)
{
    char dir[32];
    struct diag *d = diag_new();
    e2e_folder(dir);
    cr_expect_not(write_one(dir, "text", d));
    cr_expect(strstr(diag_message(d, 0), "Is a directory"), "%s", diag_message(d, 0));
    char *inside = path_in(dir, "no/file");
    cr_expect_not(write_one(inside, "text", d));
    cr_expect(strstr(diag_message(d, 1), "/no' does not exist (create it first)"), "%s", diag_message(d, 1));
    cr_expect_eq(count_entries(dir), 0);
    rmdir(dir);
    free(inside);
    diag_free(d);
}

/* Content that could not be made leaves nothing. */
Test(file, a_dropped_file_leaves_nothing)
{
    char dir[32];
    struct file_new f;
    struct diag *d = diag_new();
    e2e_folder(dir);
    char *path = path_in(dir, "a");
    cr_assert(file_begin(&f, path, d));
    fputs("half", f.out);
    file_drop(&f);
    cr_expect_eq(count_entries(dir), 0);
    cr_expect_not(diag_failed(d));
    rmdir(dir);
    free(path);
    diag_free(d);
}
