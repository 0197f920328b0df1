/*
 * A library that Python code of 3.8 to 3.10 loads, with a frame evaluator (PEP 523) that counts
 * the frames of functions called leaf, as debuggers and compilers have one: what was there before
 * executes them.
 */
#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef void *of_frame(void *frame, int is_throw);
typedef void *of_state(void *state, void *frame, int is_throw);

int evaluator_set(void);
int evaluator_reset(void);
int evaluator_count(void);

/* 3.8 has no function for it; there it is a member of the interpreter's state. */
#define MEMBER_OF_3_8 568
#define FRAME_CODE    32
#define CODE_NAME     112

static of_frame *frame_before;
static of_state *state_before;
static int count;

static void look_at(void *frame)
{
	const char *(*text)(void *);
	void *code = *(void **)((char *)frame + FRAME_CODE);

	*(void **)&text = dlsym(RTLD_DEFAULT, "PyUnicode_AsUTF8");
	count += strcmp(text(*(void **)((char *)code + CODE_NAME)), "leaf") == 0;
}

static void *on_frame(void *frame, int is_throw)
{
	look_at(frame);
	return frame_before(frame, is_throw);
}

static void *on_state(void *state, void *frame, int is_throw)
{
	look_at(frame);
	return state_before(state, frame, is_throw);
}

static void *interpreter(void)
{
	void *(*get)(void);

	*(void **)&get = dlsym(RTLD_DEFAULT, "_PyThreadState_UncheckedGet");
	return *(void **)((char *)get() + 16);
}

int evaluator_set(void)
{
	of_state *(*get)(void *);
	void (*set)(void *, of_state *);

	*(void **)&get = dlsym(RTLD_DEFAULT, "_PyInterpreterState_GetEvalFrameFunc");
	*(void **)&set = dlsym(RTLD_DEFAULT, "_PyInterpreterState_SetEvalFrameFunc");
	if (get == NULL || set == NULL) {
		of_frame **member = (void *)((char *)interpreter() + MEMBER_OF_3_8);

		frame_before = *member;
		*member = on_frame;
		return 0;
	}
	state_before = get(interpreter());
	set(interpreter(), on_state);
	return 0;
}

/* To the interpreter's own, as those do that know of nobody else. */
int evaluator_reset(void)
{
	void (*set)(void *, void *);
	void *original = dlsym(RTLD_DEFAULT, "_PyEval_EvalFrameDefault");

	*(void **)&set = dlsym(RTLD_DEFAULT, "_PyInterpreterState_SetEvalFrameFunc");
	if (set == NULL)
		*(void **)((char *)interpreter() + MEMBER_OF_3_8) = original;
	else
		set(interpreter(), original);
	return 0;
}

int evaluator_count(void)
{
	return count;
}
