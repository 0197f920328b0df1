#include "collect/processes/interpreter_kinds.h"

#include "collect/processes/ring_view.h"
#include "record/recording.h"
#include "target/python.h"
#include "target/ruby.h"

/* So many walks that failed, and none that succeeded, are not by chance. */
#define REFUSALS_TO_JUDGE 10

static bool never_fitted(uint64_t walks, uint64_t refusals)
{
	return walks == 0 && refusals >= REFUSALS_TO_JUDGE;
}

static int read_python(const char *path, void **out_image, struct error *err)
{
	struct python_image *image = NULL;
	int rc = python_image_read(path, &image, err);

	if (rc == 0)
		*out_image = image;
	return rc;
}

static void free_python(void *image)
{
	python_image_free(image);
}

static const char *version_of_python(const void *image)
{
	return python_image_version(image);
}

static const char *why_not_python(const void *image)
{
	return python_image_why_not(image);
}

static void give_python(const void *image, uint64_t load_bias,
			const struct interpreter_program *program, struct ring_header *ring)
{
	struct python_layout layout;

	python_image_layout(image, load_bias, &layout);
	if (program->path != NULL)
		python_layout_use_copies(&layout, program->path, program->load_bias);
	ring->python = layout;
	/* Pairs with the acquire in the agent, which sees a complete layout. */
	__atomic_store_n(&ring->has_python, 1, __ATOMIC_RELEASE);
}

static const char *judge_python(const struct ring_walks *walks)
{
	return never_fitted(walks->python, walks->python_refusals)
		       ? "thread states do not look as"
		       : NULL;
}

static int read_ruby(const char *path, void **out_image, struct error *err)
{
	struct ruby_image *image = NULL;
	int rc = ruby_image_read(path, &image, err);

	if (rc == 0)
		*out_image = image;
	return rc;
}

static void free_ruby(void *image)
{
	ruby_image_free(image);
}

static const char *version_of_ruby(const void *image)
{
	return ruby_image_version(image);
}

static const char *why_not_ruby(const void *image)
{
	return ruby_image_why_not(image);
}

static void give_ruby(const void *image, uint64_t load_bias,
		      const struct interpreter_program *program, struct ring_header *ring)
{
	struct ruby_layout layout;

	ruby_image_layout(image, load_bias, &layout);
	if (program->path != NULL)
		ruby_layout_use_copies(&layout, program->path, program->load_bias);
	ring->ruby = layout;
	/* Pairs with the acquire in the agent, which sees a complete layout. */
	__atomic_store_n(&ring->has_ruby, 1, __ATOMIC_RELEASE);
}

static const char *judge_ruby(const struct ring_walks *walks)
{
	if (walks->ruby_check == RING_RUBY_DIFFERS)
		return "stacks do not look as";
	return never_fitted(walks->ruby, walks->ruby_refusals)
		       ? "execution contexts do not look as"
		       : NULL;
}

const struct interpreter_kind interpreter_kinds[INTERPRETER_KINDS] = {
	{ RECORDING_LANGUAGE_PYTHON, "Python", "CPython", read_python, free_python,
	  version_of_python, why_not_python, give_python, judge_python },
	{ RECORDING_LANGUAGE_RUBY, "Ruby", "CRuby", read_ruby, free_ruby, version_of_ruby,
	  why_not_ruby, give_ruby, judge_ruby },
};
