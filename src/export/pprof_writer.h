/*
 * pprof_writer - a pprof Profile in parts, and its table of strings.
 *
 * Two protobuf messages written one after the other read as one merged message.
 * So each sample, location, function and string is packed and written as a Profile
 * of its own as soon as it is known, and memory does not grow with the samples.
 */
#pragma once
#include <protobuf-c/protobuf-c.h>
#include <stdint.h>

#include "base/table.h"
#include "export/output.h"

/* .output is set by the caller, all else 0: pprof_writer_done(). */
struct pprof_writer {
	struct output output;
	struct intern strings; /* ids are indexes of the string table */
};

/* part: of a Pprof__Profile, its .base. */
void pprof_write(struct pprof_writer *writer, const ProtobufCMessage *part);
/* The index of a string, made valid UTF-8 as protobuf demands; 0 for NULL and "". */
int64_t pprof_string(struct pprof_writer *writer, const char *string);
/* Writes the strings.  What output_done() says. */
int pprof_writer_done(struct pprof_writer *writer);
