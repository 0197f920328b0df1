/*
 * debug_server - downloads debug files from the servers in DEBUGINFOD_URLS.
 *
 * Uses libdebuginfod, which keeps files in its cache (~/.cache/debuginfod_client), and also
 * that a server lacks one. It is loaded for the first file, and only if DEBUGINFOD_URLS is set:
 * a user who sets that wants the network to be used.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct debug_server;
struct notes;

/* Called repeatedly during a download, in bytes; total 0: unknown. */
typedef void debug_server_progress(void *context, size_t done, size_t total);

/* NULL if DEBUGINFOD_URLS is not set.  progress may be NULL. */
struct debug_server *debug_server_new(debug_server_progress *progress, void *context);
void debug_server_free(struct debug_server *server);
/*
 * The path of the debug file for that build id, which the caller frees, or NULL. If the library
 * is missing, a note says so, once.
 */
char *debug_server_find(struct debug_server *server, const uint8_t *build_id, size_t len,
			struct notes *notes);
