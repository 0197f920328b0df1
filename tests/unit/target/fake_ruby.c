/*
 * What looks like CRuby, up to a point: a library with the names, the code and the data that
 * one is found by.  By default it looks like it altogether; what is left out, or made
 * otherwise, stands in meson.build.
 */
#include <stddef.h>

#define EXPORT __attribute__((visibility("default"), used))
/* Without a name in a stripped file, and nothing that the compiler may take apart. */
#define OWN __attribute__((visibility("hidden")))

#ifndef VERSION
#define VERSION "4.0.0"
#define MAJOR   4
#define MINOR   0
#endif
#ifndef PATCHLEVEL
#define PATCHLEVEL 0
#endif
#ifndef ENGINE
#define ENGINE "ruby"
#endif
#ifndef EC_THREAD
#define EC_THREAD 48
#endif

EXPORT const char ruby_engine[] = ENGINE;
EXPORT const int ruby_api_version[] = { MAJOR, MINOR, 0 };
#ifndef NAMELESS
EXPORT const char ruby_version[] = VERSION;
EXPORT const int ruby_patchlevel = PATCHLEVEL;
#endif
#ifdef DESCRIPTION
EXPORT const char ruby_description[] = DESCRIPTION;
#endif

#ifndef CLASSLESS
EXPORT size_t rb_cInteger, rb_cFloat, rb_cString, rb_cArray, rb_cHash, rb_cSymbol, rb_cRegexp,
	rb_cNilClass, rb_cTrueClass, rb_cFalseClass;
#endif
#ifndef JOBLESS
EXPORT char rb_postponed_job_preregister[8], rb_postponed_job_trigger[8];
#endif
#ifndef HOOKLESS
EXPORT char rb_add_event_hook[8];
#endif
EXPORT char rb_profile_frames[8], rb_profile_frame_path[8], rb_profile_frame_label[8],
	rb_profile_frame_first_lineno[8], rb_id2name[8];

/* The execution context: ruby_current_ec->thread_ptr->self. */
struct thread {
	char before[16];
	size_t self;
};

struct context {
	char before[EC_THREAD];
	struct thread *thread;
};

#if defined(CLANG) && defined(__x86_64__)
extern OWN __thread struct context *ruby_current_ec;
#else
static __thread struct context *ruby_current_ec;
#endif
EXPORT void set_context(struct context *context);

EXPORT void set_context(struct context *context)
{
	ruby_current_ec = context;
}

#if defined(CLANG) && defined(__x86_64__)
__thread struct context *ruby_current_ec;
/* As clang writes the function, which makes room by a push of what it does not need. */
__asm__(".text\n"
	".globl rb_thread_current\n"
	".type rb_thread_current, @function\n"
	"rb_thread_current:\n"
	"push %rax\n"
	".byte 0x66\n"
	"lea ruby_current_ec@tlsgd(%rip), %rdi\n"
	".byte 0x66, 0x66, 0x48\n"
	"call __tls_get_addr@PLT\n"
	"mov (%rax), %rax\n"
	"mov 0x30(%rax), %rax\n"
	"mov 0x10(%rax), %rax\n"
	"pop %rcx\n"
	"ret\n"
	".size rb_thread_current, .-rb_thread_current\n");
#else
EXPORT size_t rb_thread_current(void);

EXPORT size_t rb_thread_current(void)
{
#ifdef CONTEXTLESS
	return 0;
#else
	return ruby_current_ec->thread->self;
#endif
}
#endif

/* The table of symbols. */
struct symbols {
	unsigned last_id;
	void *texts;
	size_t *ids;
};

#ifdef UNUSED_SYMBOLS
OWN struct symbols ruby_global_symbols;
#else
OWN struct symbols ruby_global_symbols = { .last_id = 260 };
#endif
#ifdef SYMBOLS_TWICE
OWN struct symbols other_symbols = { .last_id = 261 };
#else
#define other_symbols ruby_global_symbols
#endif
EXPORT void set_symbols(void *texts, size_t *ids);

EXPORT void set_symbols(void *texts, size_t *ids)
{
	ruby_global_symbols = (struct symbols){ 300, texts, ids };
	other_symbols = (struct symbols){ 301, texts, ids };
}

#ifndef WITHOUT_ID2STR
EXPORT size_t rb_id2str(size_t id);

EXPORT size_t rb_id2str(size_t id)
{
	if (id <= ruby_global_symbols.last_id)
		return ruby_global_symbols.ids[id];
	return id <= other_symbols.last_id ? other_symbols.ids[id] : 0;
}
#endif

/* Instructions, and as many traced ones: labels are no ISO C. */
#pragma GCC diagnostic ignored "-Wpedantic"
#define TEN(X, letter) \
	X(letter##0)   \
	X(letter##1)   \
	X(letter##2)   \
	X(letter##3)   \
	X(letter##4) X(letter##5) X(letter##6) X(letter##7) X(letter##8) X(letter##9)
#ifdef FEWER
#define SOME(X) X(some)
#else
#define SOME(X) X(some) X(opt_plus) X(opt_aset)
#endif
#define INSTRUCTIONS(X) \
	X(nop)          \
	X(getlocal)     \
	SOME(X)         \
	TEN(X, a)       \
	TEN(X, b)       \
	TEN(X, c)       \
	TEN(X, d)       \
	TEN(X, e)       \
	TEN(X, f) TEN(X, g) TEN(X, h) TEN(X, i) X(j0) X(j1) X(j2) X(j3) X(j4) X(j5) X(j6) X(j7)

#ifndef WITHOUT_NAMES
#define NAME(name)        #name "\0"
#define TRACED_NAME(name) "trace_" #name "\0"
EXPORT const char insn_name_info[] = "\0" INSTRUCTIONS(NAME) INSTRUCTIONS(TRACED_NAME);
#endif

#ifndef WITHOUT_CORE
#define LABEL(name)        &&label_##name,
#define TRACED_LABEL(name) &&label_trace_##name,
#define BODY(name)                                  \
	label_##name : sum = sum * 3 + __COUNTER__; \
	if (sum == 1000)                            \
		return sum;                         \
	goto *labels[*code++];
#define TRACED_BODY(name) BODY(trace_##name)

/* Each of its jumps may go to each of its labels, which takes long to optimise. */
#ifdef __clang__
#define AS_IT_STANDS __attribute__((noinline, optnone))
#else
#define AS_IT_STANDS __attribute__((noinline, optimize("O0")))
#endif

OWN AS_IT_STANDS size_t vm_exec_core(const unsigned char *code);

OWN size_t vm_exec_core(const unsigned char *code)
{
	static const void *const labels[] = { INSTRUCTIONS(LABEL) INSTRUCTIONS(TRACED_LABEL) };
	size_t sum = 0;

	if (!code)
		return (size_t)labels;
	goto *labels[*code++];
	INSTRUCTIONS(BODY)
	INSTRUCTIONS(TRACED_BODY)
}

#define CALLER(name)                                   \
	EXPORT size_t name(const unsigned char *code); \
	EXPORT size_t name(const unsigned char *code)  \
	{                                              \
		return vm_exec_core(code) + 1;         \
	}

/* A jump. */
EXPORT size_t rb_vm_get_insns_address_table(void);
EXPORT size_t rb_vm_get_insns_address_table(void)
{
	return vm_exec_core(NULL);
}

#ifndef WITHOUT_LOOP
CALLER(rb_vm_exec)
#endif
#ifdef MANY_LOOPS
CALLER(second)
CALLER(third)
CALLER(fourth)
CALLER(fifth)
#endif
#endif

#ifdef PROGRAM
int main(void)
{
	return 0;
}
#endif
