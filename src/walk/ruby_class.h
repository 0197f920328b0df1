/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * ruby_class - the qualifier of a method's name: "Foo::Bar#" or "Foo::Bar.".
 *
 * As in Ruby 3.4 (vm_backtrace.c, rb_gen_method_name()), whatever the version: methods of
 * singleton classes have the class or module that the singleton belongs to; there is no qualifier
 * if a class has no permanent name, or a singleton belongs to another sort of object.  A method
 * of a refinement has the refined class, where Ruby has nothing.
 *
 * A class's path is a String, from 3.3 on in its extension (rb_classext_t.classpath), before in a
 * variable (ruby_variables.h).  Temporary paths of classes without a name, "#<Class:0x…>::Foo" or
 * that of Module#set_temporary_name, are not used, so that they do not look like a constant's.
 */
#pragma once
#include "ruby_variables.h"

/* RMODULE_IS_REFINEMENT */
#define RUBY_IS_REFINEMENT (1ULL << (RUBY_USER_SHIFT + 3))

struct ruby_owner {
	u64 path;     /* a String; 0: no qualifier */
	u8 separator; /* '#', or '.' */
};

/* The extension of a class; 0 if it cannot be read. */
static inline u64 ruby_class_ext(struct mem *mem, const struct ruby_layout *layout, u64 class)
{
	u64 ext = class + layout->offsets.class_ext;

	if (layout->class_ext_is_pointer &&
	    ruby_read(mem, &ext, class, layout->offsets.class_ext) < 0)
		return 0;
	return ext;
}

/*
 * Whether a path consists of constants: each part begins with a capital.  Checks the beginning
 * and what follows each "::", in the first 64 bytes.
 */
static inline int ruby_path_is_permanent(struct mem *mem, const struct ruby_layout *layout,
					 u64 path)
{
	struct ruby_shape shape;
	u8 bytes[64];
	u32 length;

	if (ruby_text_shape(mem, layout, path, &shape) < 0 || shape.length == 0)
		return 0;
	length = shape.length < sizeof bytes ? (u32)shape.length : (u32)sizeof bytes;
	if (mem_read(mem, bytes, length, shape.data) < 0)
		return 0;
	for (u32 i = 0; i < sizeof bytes && i < length; i++) {
		const int begins =
			i == 0 || (i >= 2 && bytes[i - 1] == ':' && bytes[i - 2] == ':');

		/* Other characters than ASCII may be capitals; no class is named to deceive us. */
		if (begins && bytes[i] < 0x80 && (bytes[i] < 'A' || bytes[i] > 'Z'))
			return 0;
	}
	return 1;
}

/* The path of a class or module, or 0 if it has no permanent one. */
static inline u64 ruby_class_path(struct mem *mem, const struct ruby_layout *layout, u64 class,
				  u64 flags)
{
	const u64 ext = ruby_class_ext(mem, layout, class);
	u64 path;

	if (ext == 0)
		return 0;
	if (layout->offsets.ext_classpath == RUBY_NO_FIELD)
		path = ruby_variable_of(mem, layout, ext, flags, "__classpath__");
	else if (ruby_read(mem, &path, ext, layout->offsets.ext_classpath) < 0)
		return 0;
	return path != 0 && ruby_path_is_permanent(mem, layout, path) ? path : 0;
}

/* The object that a singleton class belongs to, or 0. */
static inline u64 ruby_class_attached(struct mem *mem, const struct ruby_layout *layout,
				      u64 class, u64 flags)
{
	const u64 ext = ruby_class_ext(mem, layout, class);
	u64 attached;

	if (ext == 0)
		return 0;
	if (layout->offsets.ext_attached == RUBY_NO_FIELD)
		return ruby_variable_of(mem, layout, ext, flags, "__attached__");
	return ruby_read(mem, &attached, ext, layout->offsets.ext_attached) < 0 ? 0 : attached;
}

static inline int ruby_is_class_or_module(u64 flags)
{
	return (flags & RUBY_TYPE_MASK) == RUBY_T_CLASS ||
	       (flags & RUBY_TYPE_MASK) == RUBY_T_MODULE;
}

/*
 * The class that a refinement refines: its superclass; for a module, the ICLASS that represents
 * the module in chains of superclasses (eval.c, rb_mod_refine(), refinement_superclass()).
 */
static inline u64 ruby_class_refined(struct mem *mem, const struct ruby_layout *layout,
				     u64 refinement)
{
	u64 class;

	if (layout->offsets.refinement_class == RUBY_NO_FIELD ||
	    ruby_read(mem, &class, refinement, layout->offsets.refinement_class) < 0)
		return 0;
	if ((ruby_flags_of(mem, class) & RUBY_TYPE_MASK) == RUBY_T_ICLASS &&
	    ruby_read(mem, &class, class, RUBY_CLASS) < 0)
		return 0;
	return class;
}

/* The qualifier of names of this class's methods. */
static inline void ruby_class_owner(struct mem *mem, const struct ruby_layout *layout,
				    u64 class, struct ruby_owner *out_owner)
{
	u64 flags = ruby_flags_of(mem, class);

	*out_owner = (struct ruby_owner){ .separator = '#' };
	if ((flags & RUBY_TYPE_MASK) == RUBY_T_ICLASS) {
		if (ruby_read(mem, &class, class, RUBY_CLASS) < 0)
			return;
		flags = ruby_flags_of(mem, class);
	}
	if ((flags & RUBY_TYPE_MASK) == RUBY_T_MODULE && (flags & RUBY_IS_REFINEMENT) != 0) {
		class = ruby_class_refined(mem, layout, class);
		flags = ruby_flags_of(mem, class);
	}
	if ((flags & RUBY_TYPE_MASK) == RUBY_T_CLASS &&
	    (flags >> (layout->singleton_flag & 63) & 1) != 0) {
		class = ruby_class_attached(mem, layout, class, flags);
		flags = ruby_flags_of(mem, class);
		out_owner->separator = '.';
	}
	if (ruby_is_class_or_module(flags))
		out_owner->path = ruby_class_path(mem, layout, class, flags);
}
