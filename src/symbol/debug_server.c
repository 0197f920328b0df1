#include "debug_server.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/monotonic.h"
#include "base/notes.h"

#define LIBRARY "libdebuginfod.so.1"
/*
 * The time limit for all files together, which is extended as bytes arrive, up to an hour. The
 * library's own limit is per file, and 90 s.
 */
#define PATIENCE_S      15U
#define PATIENCE_S_MOST 3600U
#define BYTES_A_SECOND  65536U
#define NS_PER_S        1000000000ULL
#define SLOW                                                                                \
	"a server of DEBUGINFOD_URLS was too slow, and is asked for nothing more (%" PRIu64 \
	" bytes in %.0f s): some stripped code stays without names; "                       \
	"DEBUGINFOD_TIMEOUT=SECONDS waits longer"

/* Of <elfutils/debuginfod.h>, version 0.178 and later. */
struct client;
typedef int progress_function(struct client *client, long done, long total);

struct debug_server {
	debug_server_progress *progress;
	void *context;
	bool is_asked; /* dlopen() was attempted */
	bool is_slow;  /* it exceeded the limit, and is not asked again */
	uint64_t patience_s;
	uint64_t waited_ns, got;     /* totals of all files so far */
	uint64_t began_ns, got_here; /* of the current file */
	struct client *client;
	void (*end)(struct client *client);
	int (*find)(struct client *client, const unsigned char *id, int len, char **out_path);
};

/* The limit set by the library's own variable, where 0 is none. */
static uint64_t patience_s(void)
{
	const char *timeout = getenv("DEBUGINFOD_TIMEOUT");
	const unsigned long asked = timeout ? strtoul(timeout, NULL, 10) : PATIENCE_S;

	return asked == 0 || asked > PATIENCE_S_MOST ? PATIENCE_S_MOST : asked;
}

struct debug_server *debug_server_new(debug_server_progress *progress, void *context)
{
	const char *urls = getenv("DEBUGINFOD_URLS");

	if (!urls || !*urls)
		return NULL;
	struct debug_server *server = xzalloc(sizeof *server);

	server->progress = progress;
	server->context = context;
	server->patience_s = patience_s();
	return server;
}

void debug_server_free(struct debug_server *server)
{
	if (!server)
		return;
	if (server->client)
		server->end(server->client);
	/* The library stays loaded: curl's threads may not have ended yet. */
	free(server);
}

/* Stores the address of a function of the library in the pointer at out_function, or NULL. */
static void find_function(void *library, const char *name, void *out_function)
{
	void *const found = dlsym(library, name);

	memcpy(out_function, &found, sizeof found);
}

static bool is_too_slow(const struct debug_server *server)
{
	const uint64_t waited_ns = server->waited_ns + monotonic_ns() - server->began_ns;
	const uint64_t earned_s = (server->got + server->got_here) / BYTES_A_SECOND;
	const uint64_t most_s = server->patience_s + earned_s;

	return waited_ns / NS_PER_S >= (most_s < PATIENCE_S_MOST ? most_s : PATIENCE_S_MOST);
}

/*
 * Called at least once a second, with the bytes received; before any arrive, with a number that
 * is small compared with a second's bytes. Non-zero makes the library give up.
 */
static int report_progress(struct client *client, long done, long total)
{
	void *(*get_user_data)(struct client * client);

	find_function(RTLD_DEFAULT, "debuginfod_get_user_data", &get_user_data);
	struct debug_server *server = get_user_data ? get_user_data(client) : NULL;

	if (!server)
		return 0;
	if (server->progress && done >= 0 && total > 0)
		server->progress(server->context, (size_t)done, (size_t)total);
	server->got_here = done > 0 ? (uint64_t)done : 0;
	server->is_slow = is_too_slow(server);
	return server->is_slow;
}

/* Since 0.179 the client can hold a pointer of ours. */
static void watch_progress(struct debug_server *server, void *library)
{
	void (*set_data)(struct client * client, void *data);
	void (*set_function)(struct client * client, progress_function * function);

	find_function(library, "debuginfod_set_user_data", &set_data);
	find_function(library, "debuginfod_set_progressfn", &set_function);
	if (!set_data || !set_function)
		return;
	set_data(server->client, server);
	set_function(server->client, report_progress);
}

static void begin(struct debug_server *server, struct notes *notes)
{
	struct client *(*start)(void) = NULL;
	/* RTLD_GLOBAL: report_progress() looks functions up. */
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
	if (!server->client || len == 0 || server->is_slow)
		return NULL;
	server->began_ns = monotonic_ns();
	server->got_here = 0;
	const int fd = server->find(server->client, build_id, (int)len, &path);

	server->waited_ns += monotonic_ns() - server->began_ns;
	server->got += server->got_here;
	server->got_here = 0;
	server->began_ns = monotonic_ns();
	server->is_slow |= is_too_slow(server);
	if (server->is_slow && notes)
		notes_add(notes, SLOW, server->got,
			  (double)server->waited_ns / (double)NS_PER_S);
	if (fd < 0)
		return NULL;
	close(fd);
	return path;
}
