/* The terminal that a stream goes to. */
#ifndef THRESH_BASE_TERMINAL_H
#define THRESH_BASE_TERMINAL_H

/* The width in columns of the terminal that the descriptor is of; without one, or if it does not say, that of
 * the environment variable COLUMNS, else `otherwise`. Asked anew at each call, so that it follows a resized
 * window. */
unsigned terminal_columns(int fd, unsigned otherwise);

#endif
