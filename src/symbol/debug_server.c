#include "debug_server.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/notes.h"

#define LIBRARY "libdebuginfod.so.1"

/* Of <elfutils/debuginfod.h>, version 0.178 and later. */
struct client;
typedef int progress_function(struct client *client, long done, long total);

struct debug_server {
	debug_server_progress *progress;
	void *context;
	bool is_asked; /* for the library */
	struct client *client;
	void (*end)(struct client *client);
	int (*find)(struct client *client, const unsigned char *id, int len, char **out_path);
};

struct debug_server *debug_server_new(debug_server_progress *progress, void *context)
{
	const char *urls = getenv("DEBUGINFOD_URLS");

	if (!urls || !*urls)
		return NULL;
	struct debug_server *server = xzalloc(sizeof *server);

	server->progress = progress;
	server->context = context;
	return server;
}

void debug_server_free(struct debug_server *server)
{
	if (!server)
		return;
	if (server->client)
		server->end(server->client);
	/* The library stays: curl has threads that may not have ended yet. */
	free(server);
}

/* Puts the address of a function of the library into the pointer at out_function, or NULL. */
static void find_function(void *library, const char *name, void *out_function)
{
	void *const found = dlsym(library, name);

	memcpy(out_function, &found, sizeof found);
}

static int report_progress(struct client *client, long done, long total)
{
	void *(*get_user_data)(struct client * client);

	find_function(RTLD_DEFAULT, "debuginfod_get_user_data", &get_user_data);
	const struct debug_server *server = get_user_data ? get_user_data(client) : NULL;

	if (server && done >= 0 && total > 0)
		server->progress(server->context, (size_t)done, (size_t)total);
	return 0;
}

/* The client has a pointer for us since 0.179. */
static void watch_progress(struct debug_server *server, void *library)
{
	void (*set_data)(struct client * client, void *data);
	void (*set_function)(struct client * client, progress_function * function);

	find_function(library, "debuginfod_set_user_data", &set_data);
	find_function(library, "debuginfod_set_progressfn", &set_function);
	if (!server->progress || !set_data || !set_function)
		return;
	set_data(server->client, server);
	set_function(server->client, report_progress);
}

static void begin(struct debug_server *server, struct notes *notes)
{
	struct client *(*start)(void) = NULL;
	/* Global, for report_progress(). */
	void *library = dlopen(LIBRARY, RTLD_LAZY | RTLD_GLOBAL);

	if (library) {
		find_function(library, "debuginfod_begin", &start);
		find_function(library, "debuginfod_end", &server->end);
		find_function(library, "debuginfod_find_debuginfo", &server->find);
	}
	if (start && server->end && server->find)
		server->client = start();
	if (server->client)
		watch_progress(server, library);
	else if (notes)
		notes_add(notes,
			  "DEBUGINFOD_URLS is set, and %s is not installed (Debian's "
			  "libdebuginfod1): stripped code stays without names",
			  LIBRARY);
}

char *debug_server_find(struct debug_server *server, const uint8_t *build_id, size_t len,
			struct notes *notes)
{
	char *path = NULL;

	if (!server->is_asked) {
		server->is_asked = true;
		begin(server, notes);
	}
	if (!server->client || len == 0)
		return NULL;
	const int fd = server->find(server->client, build_id, (int)len, &path);

	if (fd < 0)
		return NULL;
	close(fd);
	return path;
}
