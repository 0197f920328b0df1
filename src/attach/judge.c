#include "attach/judge.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "abi/attach.h"
#include "attach/status.h"
#include "base/error.h"
#include "target/elf_file.h"
#include "target/maps.h"

/* They track each thread from its pthread_create(), which does not create ours. */
static const char *const sanitizers[] = { "libasan.so", "libtsan.so", "libhwasan.so" };

int judge_status(const struct attach_status *status, struct error *err)
{
	if (status->state == 'Z' || status->state == 'X')
		return error_set(err, -ESRCH, "it has ended");
	if (status->debugger != 0)
		return error_set(err, -ENOTSUP, "process %d traces it (a debugger, strace)",
				 (int)status->debugger);
	if (status->state == 'T')
		return error_set(err, -ENOTSUP, "it is stopped; go on with it: kill -CONT %d",
				 (int)status->tgid);
	if (status->has_shadow_stack)
		return error_set(err, -ENOTSUP, "its threads have shadow stacks");
	return 0;
}

static const char *sanitizer_of(const char *path)
{
	const char *name = strrchr(path, '/');

	for (size_t i = 0; name != NULL && i < sizeof sanitizers / sizeof sanitizers[0]; i++) {
		if (strncmp(name + 1, sanitizers[i], strlen(sanitizers[i])) == 0)
			return name + 1;
	}
	return NULL;
}

int judge_maps(const struct maps *maps, struct error *err)
{
	for (size_t i = 0; i < maps_count(maps); i++) {
		const char *sanitizer = sanitizer_of(maps_at(maps, i)->path);

		if (sanitizer != NULL)
			return error_set(err, -ENOTSUP, "a sanitizer watches it (%s)",
					 sanitizer);
	}
	return 0;
}

/* gcc links sanitizers as libraries; clang, into the program, which then exports these symbols. */
static bool has_sanitizer(pid_t pid)
{
	static const char *const starts[] = { "__asan_init", "__tsan_init", "__hwasan_init" };
	struct elf_file_symbol symbol;
	struct elf_file elf;
	char path[32];
	bool is_found = false;

	snprintf(path, sizeof path, "/proc/%d/exe", (int)pid);
	if (elf_file_open(path, &elf, NULL) < 0)
		return false;
	for (size_t i = 0; i < sizeof starts / sizeof starts[0]; i++)
		is_found = is_found || elf_file_find(&elf, starts[i], &symbol);
	elf_file_close(&elf);
	return is_found;
}

/* Whether an earlier attach has left an agent, whose SIGTRAP handler is then set. */
static bool has_agent(const struct maps *maps)
{
	for (size_t i = 0; i < maps_count(maps); i++) {
		const char *path = maps_at(maps, i)->path;

		if (strncmp(path, ATTACH_MEMORY, strlen(ATTACH_MEMORY)) == 0 ||
		    strstr(path, ATTACH_OBJECT) != NULL)
			return true;
	}
	return false;
}

static bool has_proc(pid_t pid)
{
	char path[64];

	snprintf(path, sizeof path, "/proc/%d/root/proc/1", (int)pid);
	if (access(path, F_OK) == 0)
		return true;
	/* Other users' processes may be hidden (hidepid). */
	snprintf(path, sizeof path, "/proc/%d/root/proc/version", (int)pid);
	return access(path, F_OK) == 0;
}

int judge_process(pid_t pid, const struct maps *maps, struct error *err)
{
	struct attach_status status;
	int rc = attach_status_read(pid, pid, &status);

	if (rc < 0)
		return error_errno(err, rc, "it cannot be looked at");
	rc = judge_status(&status, err);
	if (rc == 0)
		rc = judge_maps(maps, err);
	if (rc == 0 && has_sanitizer(pid))
		rc = error_set(err, -ENOTSUP, "a sanitizer watches it");
	if (rc == 0 && !has_agent(maps) &&
	    attach_status_has_signal(status.caught | status.ignored, SIGTRAP))
		rc = error_set(err, -ENOTSUP, "it uses SIGTRAP itself");
	if (rc == 0 && !has_proc(pid))
		rc = error_set(err, -ENOTSUP, "no /proc is mounted where it runs");
	return rc;
}
