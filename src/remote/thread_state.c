#include "remote/thread_state.h"

#include <sys/syscall.h>

#include "remote/process.h"
#include "remote/python.h"
#include "remote/ruby.h"
#include "remote/task.h"
#include "remote/walk.h"

void thread_state_find(struct remote *remote, pid_t inner_tid, struct walk_states *states)
{
	if (remote->python && states->python == 0)
		states->python = remote_python_state(remote, inner_tid);
	if (remote->ruby && states->ruby == 0)
		states->ruby = remote_ruby_context(remote, inner_tid);
}

struct thread_locks thread_state_locks(struct remote *remote, const struct walk_states *states,
				       const struct task_call *call)
{
	struct thread_locks locks = { 0 };

	if (remote->python) {
		locks.holds_gil = remote_python_holds_gil(remote, states->python);
		locks.waits_for_gil = !call->is_running && call->number == SYS_futex &&
				      remote_python_is_gil(remote, call->arguments[0]);
	}
	if (remote->ruby)
		locks.holds_gvl = remote_ruby_holds_gvl(remote, states->ruby);
	return locks;
}
