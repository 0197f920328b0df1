#include "doctor/machine.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "collect/events/perf_events.h"
#include "collect/system/socket_folder.h"
#include "doctor/checks.h"

#define GROUP "machine"
/* The first Linux version where perf events can send SIGTRAP (collect/events/perf_events.c). */
#define SIGTRAP_MAJOR 5
#define SIGTRAP_MINOR 18

/* The number in the file, or -1. */
static long read_number(const char *path)
{
	FILE *file = fopen(path, "re");
	long number = -1;

	if (!file)
		return -1;
	if (fscanf(file, "%ld", &number) != 1)
		number = -1;
	fclose(file);
	return number;
}

/* Settings that determine what the kernel allows this process. */
struct surroundings {
	bool has_filter; /* of seccomp */
	bool is_in_user_namespace;
	long paranoid; /* kernel.perf_event_paranoid; -1: unreadable */
};

static bool has_filter(void)
{
	FILE *file = fopen("/proc/self/status", "re");
	char line[256];
	int mode = 0;

	while (file && fgets(line, sizeof line, file)) {
		if (sscanf(line, "Seccomp: %d", &mode) == 1)
			break;
	}
	if (file)
		fclose(file);
	return mode == 2;
}

/* The initial user namespace maps all ids to themselves. */
static bool is_in_user_namespace(void)
{
	FILE *file = fopen("/proc/self/uid_map", "re");
	unsigned long inside = 0, outside = 0, count = 0;
	int fields = file ? fscanf(file, "%lu %lu %lu", &inside, &outside, &count) : 0;

	if (file)
		fclose(file);
	return fields == 3 && !(inside == 0 && outside == 0 && count == UINT32_MAX);
}

static struct surroundings look_around(void)
{
	return (struct surroundings){
		.has_filter = has_filter(),
		.is_in_user_namespace = is_in_user_namespace(),
		.paranoid = read_number("/proc/sys/kernel/perf_event_paranoid"),
	};
}

static void check_kernel(struct checks *checks)
{
	struct utsname name;

	if (uname(&name) < 0)
		return;
	checks_add(checks, GROUP, "kernel", CHECK_OK, "%s %s %s, %d processors", name.sysname,
		   name.release, name.machine, get_nprocs());
}

/* Whether the kernel ("5.10" of "5.10.0-21-amd64") is too old: no setting helps. */
static bool is_older_kernel(void)
{
	struct utsname name;
	unsigned major = 0, minor = 0;

	return uname(&name) == 0 && sscanf(name.release, "%u.%u", &major, &minor) == 2 &&
	       (major < SIGTRAP_MAJOR || (major == SIGTRAP_MAJOR && minor < SIGTRAP_MINOR));
}

static void add_perf_remedy(struct checks *checks, const struct surroundings *around,
			    long wanted_level)
{
	if (is_older_kernel())
		checks_add_remedy(checks,
				  "Linux %d.%d or later: in those before, a trap kills a "
				  "program that blocks it",
				  SIGTRAP_MAJOR, SIGTRAP_MINOR);
	else if (around->paranoid < 0)
		checks_add_remedy(checks, "mount -t proc proc /proc: without it fathom does "
					  "not see what the kernel allows");
	else if (around->has_filter)
		checks_add_remedy(checks,
				  "a seccomp filter applies to this process; in a container: "
				  "docker run --cap-add PERFMON, or --security-opt "
				  "seccomp=unconfined");
	else if (around->is_in_user_namespace)
		checks_add_remedy(
			checks,
			"capabilities of a user namespace do not count for perf "
			"events: outside of it, sysctl kernel.perf_event_paranoid=%ld",
			wanted_level);
	else
		checks_add_remedy(checks,
				  "sysctl kernel.perf_event_paranoid=%ld (it is %ld), or "
				  "CAP_PERFMON: setcap cap_perfmon+ep on fathom, or root",
				  wanted_level, around->paranoid);
}

static void check_ability(struct checks *checks, const struct surroundings *around,
			  const struct perf_ability *ability)
{
	checks_add(checks, GROUP, "trigger", ability->can_sigtrap ? CHECK_OK : CHECK_LIMITED,
		   "%s: %s", ability->can_sigtrap ? "sigtrap" : "timer", ability->why);
	if (!ability->can_sigtrap)
		add_perf_remedy(checks, around, 2);
	if (!ability->can_count) {
		checks_add(
			checks, GROUP, "account", CHECK_LIMITED,
			"the CPU time of all processes is read from /proc and wait4(), at the "
			"kernel's ticks: short processes may be missing in it");
		add_perf_remedy(checks, around, 2);
	}
	if (ability->can_see_kernel) {
		checks_add(
			checks, GROUP, "system time", CHECK_OK,
			"sampled as user time is: in the function that made the system call");
		return;
	}
	checks_add(checks, GROUP, "system time", CHECK_LIMITED,
		   ability->has_kernel_ticks
			   ? "sampled at the kernel's ticks only, where a thread has much of "
			     "it; its sum is in the account"
			   : "not sampled by perf events; its sum is in the account");
	add_perf_remedy(checks, around, 1);
}

/* Starts an idle child process, on which perf events can be tried. */
static pid_t start_target(void)
{
	pid_t pid = fork();

	if (pid == 0) {
		for (;;)
			pause();
	}
	return pid;
}

static void check_trigger(struct checks *checks, const struct surroundings *around)
{
	const pid_t target = start_target();
	struct perf_ability ability;
	struct error err;

	if (target < 0) {
		checks_add(checks, GROUP, "trigger", CHECK_WRONG, "fork() failed: %s",
			   strerror(errno));
		return;
	}
	if (perf_ability_find(target, TRIGGER_AUTO, CLOCK_KIND_CPU, &ability, &err) < 0)
		checks_add(checks, GROUP, "trigger", CHECK_WRONG, "%s", err.text);
	else
		check_ability(checks, around, &ability);
	kill(target, SIGKILL);
	waitpid(target, NULL, 0);
}

static void check_proc(struct checks *checks)
{
	if (access("/proc/self/status", R_OK) == 0)
		return;
	checks_add(checks, GROUP, "/proc", CHECK_WRONG,
		   "there is none: processes, threads and mappings are not to be seen");
	checks_add_remedy(checks, "mount -t proc proc /proc; of a chroot, bind it there");
}

enum kernel_names {
	KERNEL_NAMES,
	KERNEL_ADDRESSES_HIDDEN,
	KERNEL_NAMES_HIDDEN,
	KERNEL_NAMES_NONE
};

/* Looks for an address other than 0 in the first lines. */
static enum kernel_names read_kernel_names(void)
{
	FILE *file = fopen("/proc/kallsyms", "re");
	unsigned long long address = 0;
	int lines = 0;

	if (!file)
		return errno == ENOENT ? KERNEL_NAMES_NONE : KERNEL_NAMES_HIDDEN;
	while (lines < 100 && address == 0 && fscanf(file, "%llx%*[^\n]", &address) == 1)
		lines++;
	fclose(file);
	if (address != 0)
		return KERNEL_NAMES;
	return lines > 0 ? KERNEL_ADDRESSES_HIDDEN : KERNEL_NAMES_HIDDEN;
}

static void check_kernel_names(struct checks *checks, const struct surroundings *around)
{
	static const char *const why[] = { [KERNEL_ADDRESSES_HIDDEN] = "has no addresses",
					   [KERNEL_NAMES_HIDDEN] = "is empty or cannot be read",
					   [KERNEL_NAMES_NONE] = "is not there" };
	const enum kernel_names names = read_kernel_names();

	if (names == KERNEL_NAMES) {
		checks_add(checks, GROUP, "kernel names", CHECK_OK,
			   "/proc/kallsyms has the addresses of kernel functions");
		return;
	}
	checks_add(checks, GROUP, "kernel names", CHECK_LIMITED,
		   "/proc/kallsyms %s: kernel functions in copied stacks have no names",
		   why[names]);
	if (names == KERNEL_NAMES_HIDDEN)
		checks_add_remedy(checks, "a container may have a file in its place: record "
					  "outside of it");
	else if (names == KERNEL_NAMES_NONE)
		checks_add_remedy(checks, "/proc, and a kernel with CONFIG_KALLSYMS");
	else
		checks_add_remedy(checks,
				  "%s; for others too, sysctl kernel.kptr_restrict=0 and "
				  "kernel.perf_event_paranoid=1",
				  around->is_in_user_namespace
					  ? "root outside of the user namespace"
					  : "root, or CAP_SYSLOG");
}

static void check_folder(struct checks *checks)
{
	struct socket_folder folder;
	struct error err;

	if (socket_folder_make(&folder, &err) == 0) {
		checks_add(checks, GROUP, "socket", CHECK_OK, "its folder can be made: %s",
			   folder.path);
	} else {
		checks_add(checks, GROUP, "socket", CHECK_WRONG, "%s", err.text);
		checks_add_remedy(checks, "TMPDIR=FOLDER names another place");
	}
	socket_folder_remove(&folder);
}

/* A sampled thread takes two descriptors. */
static void check_descriptors(struct checks *checks)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
		return;
	const bool is_few = limit.rlim_max < 4096;

	checks_add(checks, GROUP, "descriptors", is_few ? CHECK_LIMITED : CHECK_OK,
		   "%" PRIu64 " may be open: enough for about %" PRIu64 " threads at once",
		   (uint64_t)limit.rlim_max, (uint64_t)limit.rlim_max / 2);
	if (is_few)
		checks_add_remedy(checks, "ulimit -Hn 65536, in a shell of root's");
}

void machine_check(struct checks *checks)
{
	const struct surroundings around = look_around();

	check_kernel(checks);
	check_proc(checks);
	check_trigger(checks, &around);
	check_kernel_names(checks, &around);
	if (around.has_filter)
		checks_add(checks, GROUP, "seccomp", CHECK_OK,
			   "a filter applies to this process, as in containers");
	if (around.is_in_user_namespace)
		checks_add(checks, GROUP, "namespace", CHECK_OK,
			   "a user namespace: root in it is an ordinary user outside");
	check_folder(checks);
	check_descriptors(checks);
}
