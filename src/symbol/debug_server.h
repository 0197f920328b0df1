/*
 * debug_server - debug files from the servers of DEBUGINFOD_URLS.
 *
 * libdebuginfod asks them, and keeps what it gets in its cache (~/.cache/debuginfod_client), also
 * that a server has nothing.  It is loaded when the first file is asked for, and only where
 * DEBUGINFOD_URLS is set: whoever sets that wants the network to be used.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct debug_server;
struct notes;

/* Called now and then while a file is on its way, in bytes; total 0: not known. */
typedef void debug_server_progress(void *context, size_t done, size_t total);

/* NULL if DEBUGINFOD_URLS is not set.  progress may be NULL. */
struct debug_server *debug_server_new(debug_server_progress *progress, void *context);
void debug_server_free(struct debug_server *server);
/*
 * The path of the debug file of that build, the caller's to free, or NULL.  That the library is not
 * here is noted, once.
 */
char *debug_server_find(struct debug_server *server, const uint8_t *build_id, size_t len,
			struct notes *notes);
