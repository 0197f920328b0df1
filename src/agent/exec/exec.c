/*
 * exec - interposes exec: preloads the agent into the next program, or leaves no trace in it.
 *
 * If the agent can be preloaded into the next image, that gets a copy of its environment with our
 * two entries, which its agent takes out again (environment.h).  If it cannot, since the image is
 * statically linked or privileged or the like, it gets what it would have without us.
 *
 * exec resets our handler, and a trap that the event, or a timer, raised while the kernel was
 * executing exec arrives in the new image: by default it kills.  (Measured on Linux 6.18: an
 * event that counts system time killed every third exec at 10,000 Hz; remove_on_exec does not
 * remove a pending trap.)  Where the next image gets an agent, SIGTRAP is ignored from before
 * the exec on, which exec keeps, until that agent installs its handler; a breakpoint still kills
 * as it should, since the kernel does not let that be ignored.  Where it gets none, the events
 * are turned off before, and SIGTRAP has the action that the program set.
 *
 * All of these may be called in a handler, and in a vfork child, whose memory is its parent's.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "abi/handshake.h"
#include "agent/core/own_handshake.h"
#include "agent/core/own_process.h"
#include "agent/core/own_ring.h"
#include "agent/core/arch.h"
#include "agent/core/environment.h"
#include "agent/core/handshake.h"
#include "agent/core/hooks.h"
#include "agent/core/mechanism.h"
#include "agent/core/memory.h"
#include "agent/exec/environment_copy.h"
#include "agent/exec/launch.h"
#include "agent/exec/next_image.h"
#include "agent/exec/scratch.h"
#include "agent/exec/search.h"

#define SHELL "/bin/sh"

AGENT_EXPORT int execveat(int folder, const char *path, char *const argv[],
			  char *const environment[], int flags);

/* The arguments of execveat(2), or of execve(2): seccomp filters may distinguish the two. */
struct image_call {
	bool is_at;
	int folder;
	const char *path;
	char *const *argv;
	char *const *environment;
	int flags;
};

/* In a vfork child the events and timers are the parent's, and so is this memory. */
static bool is_sampled(void)
{
	return (own_ring.header != NULL || own_handshake.is_due) && !agent_is_of_another();
}

/* The system call.  Returns a negative errno. */
static int image_execute(const struct image_call *call, char *const *environment)
{
	if (!call->is_at)
		return (int)arch_syscall4(SYS_execve, (long)call->path, (long)call->argv,
					  (long)environment, 0);
	return (int)arch_syscall6(SYS_execveat, call->folder, (long)call->path,
				  (long)call->argv, (long)environment, call->flags, 0);
}

/* must_ignore_trap: a trap of ours may still come in the new image. */
static int image_execute_shown(const struct image_call *call, char *const *environment,
			       bool must_ignore_trap)
{
	struct signals_shown shown = { 0 };

	MECHANISMS_DO(show_signals, (must_ignore_trap, &shown));
	MECHANISMS_DO(end_process, ());
	const int rc = image_execute(call, environment);

	MECHANISMS_DO(take_back_end, ());
	MECHANISMS_DO(hide_signals, (&shown));
	return rc;
}

/*
 * Executes an image without an agent: it has no handler for a late trap, so none may come.  The
 * recorder, which is asked, also opens the event that counts the next image: a vfork child asks,
 * too.
 */
static int image_execute_alone(const struct image_call *call, u32 reason)
{
	const bool must_stop = is_sampled();
	const bool is_stopped = must_stop && handshake_stop(reason);

	if (!must_stop && own_ring.header != NULL)
		handshake_report_exec(reason);

	const int rc = image_execute_shown(call, call->environment, must_stop && !is_stopped);

	if (is_stopped)
		handshake_resume();
	return rc;
}

/* Some arguments are declared as never NULL, and compilers would leave out the check. */
static bool is_null(const void *pointer)
{
	__asm__("" : "+r"(pointer));
	return pointer == NULL;
}

static void image_judge(const struct image_call *call, struct next_image *out_image)
{
	/* If argv cannot be read, execve() reports it. */
	const bool has_argument = !is_null(call->argv) && environment_may_enter() &&
				  memory_probe((u64)call->argv) && call->argv[0] != NULL &&
				  memory_probe((u64)(call->argv + 1));

	*out_image = (struct next_image){ .answer.kind = PROGRAM_UNREADABLE };
	if (environment_may_enter())
		next_image_judge(
			&(struct next_image_path){
				.folder = call->folder,
				.path = call->path,
				.flags = call->flags,
				.first_argument = has_argument ? call->argv[1] : NULL,
				.agent_path = environment_agent_path(),
			},
			out_image);
}

static int image_exec(const struct image_call *call)
{
	struct next_image judged;
	struct environment_copy copy;

	image_judge(call, &judged);
	/* execve() reports a missing file; one that appears meanwhile runs without agent. */
	if (judged.answer.kind == PROGRAM_MISSING)
		return image_execute_shown(call, call->environment, is_sampled());
	if (judged.answer.kind != PROGRAM_ENTERABLE)
		return image_execute_alone(call, HANDSHAKE_EXEC);
	if (!environment_copy(&copy, call->environment, call->argv, &judged,
			      launch_ignores_trap()))
		return image_execute_alone(call, environment_names_recorder(call->environment)
							 ? HANDSHAKE_EXEC_RECORDED
							 : HANDSHAKE_EXEC);

	const int rc = image_execute_shown(call, copy.entries, is_sampled());

	environment_copy_done(&copy);
	return rc;
}

static int answer(int rc)
{
	errno = -rc;
	return -1;
}

static struct image_call call_of(const char *path, char *const *argv, char *const *environment)
{
	return (struct image_call){
		.folder = AT_FDCWD, .path = path, .argv = argv, .environment = environment
	};
}

AGENT_EXPORT int execve(const char *path, char *const argv[], char *const environment[])
{
	const struct image_call call = call_of(path, argv, environment);

	return answer(image_exec(&call));
}

AGENT_EXPORT int execveat(int folder, const char *path, char *const argv[],
			  char *const environment[], int flags)
{
	struct image_call call = call_of(path, argv, environment);

	call.is_at = true;
	call.folder = folder;
	call.flags = flags;
	return answer(image_exec(&call));
}

AGENT_EXPORT int fexecve(int fd, char *const argv[], char *const environment[])
{
	if (fd < 0 || is_null(argv) || is_null(environment))
		return answer(-EINVAL);
	return execveat(fd, "", argv, environment, AT_EMPTY_PATH);
}

AGENT_EXPORT int execv(const char *path, char *const argv[])
{
	return execve(path, argv, environ);
}

static size_t count_of(char *const *argv)
{
	size_t count = 0;

	while (!is_null(argv) && argv[count] != NULL)
		count++;
	return count;
}

/* Has a shell run a file that is neither a program nor a script with "#!", as libc does. */
static int execute_by_shell(const struct image_call *call)
{
	const size_t count = count_of(call->argv);
	struct pointer_array pointers;

	/* The shell, the file, the arguments behind argv[0], and NULL. */
	if (!pointer_array_take(&pointers, count + 3))
		return -ENOMEM;
	char **argv = pointers.entries;

	argv[0] = (char *)(unsigned long)SHELL;
	argv[1] = (char *)(unsigned long)call->path;
	argv[2] = NULL;
	if (count > 1)
		memcpy(argv + 2, call->argv + 1, count * sizeof(char *));
	const struct image_call shell = call_of(SHELL, argv, call->environment);
	const int rc = image_exec(&shell);

	pointer_array_give(&pointers);
	return rc;
}

static int try_candidate(void *context, const char *path)
{
	struct image_call *call = context;

	call->path = path;
	const int rc = image_exec(call);

	return rc == -ENOEXEC ? execute_by_shell(call) : rc;
}

AGENT_EXPORT int execvpe(const char *file, char *const argv[], char *const environment[])
{
	struct image_call call = call_of(file, argv, environment);

	return answer(search_path(file, try_candidate, &call));
}

AGENT_EXPORT int execvp(const char *file, char *const argv[])
{
	return execvpe(file, argv, environ);
}

/*
 * Reads the arguments of execl() and its like into an array, and behind them the environment of
 * execle().  False: there are too many.
 */
static bool arguments_take(const char *first, va_list *list,
			   struct pointer_array *out_arguments, char *const **out_environment)
{
	va_list counting;
	size_t count = 1;

	va_copy(counting, *list);
	while (va_arg(counting, char *) != NULL)
		count++;
	va_end(counting);
	if (!pointer_array_take(out_arguments, count + 1))
		return false;
	out_arguments->entries[0] = (char *)(unsigned long)first;
	for (size_t i = 1; i <= count; i++)
		out_arguments->entries[i] = va_arg(*list, char *);
	if (out_environment != NULL)
		*out_environment = va_arg(*list, char *const *);
	return true;
}

/* execl() and its like.  Returns only if the exec failed, with its errno. */
static int execute_list(const char *file, const char *first, va_list *list, bool is_search,
			bool has_environment)
{
	char *const *environment = environ;
	struct pointer_array arguments;

	if (!arguments_take(first, list, &arguments, has_environment ? &environment : NULL))
		return answer(-ENOMEM);
	if (is_search)
		execvpe(file, arguments.entries, environment);
	else
		execve(file, arguments.entries, environment);
	pointer_array_give(&arguments);
	return -1;
}

AGENT_EXPORT int execl(const char *path, const char *first, ...)
{
	va_list list;

	va_start(list, first);
	const int rc = execute_list(path, first, &list, false, false);

	va_end(list);
	return rc;
}

AGENT_EXPORT int execlp(const char *file, const char *first, ...)
{
	va_list list;

	va_start(list, first);
	const int rc = execute_list(file, first, &list, true, false);

	va_end(list);
	return rc;
}

AGENT_EXPORT int execle(const char *path, const char *first, ...)
{
	va_list list;

	va_start(list, first);
	const int rc = execute_list(path, first, &list, false, true);

	va_end(list);
	return rc;
}
