/* SPDX-License-Identifier: Apache-2.0 */
#include "stack.h"

#include "../interpose/sys.h"
#include "file.h"
#include "frame.h"
#include "object.h"

unsigned hh_stack_depth;

bool
hh_stack_begin(unsigned depth)
{
	if (!hh_unwind_begin())
		return false;
	hh_object_begin();
	hh_stack_depth = depth;
	hh_stack_none = 0;
	return true;
}

/* With its stream, a thread passes them on. */
static struct hh_walks *
walks_of(struct hh_stream *s)
{
	struct hh_walks **walks = hh_stream_walks(s);

	if (!*walks && s->chunk && !hh_file_sealed())
		*walks = hh_sys_map_private(sizeof **walks);
	return *walks;
}

/* A signal handler may have been here since, with other stacks. */
static void
keep(const struct hh_stack *stack)
{
	if (stack->walks && stack->walks->turn == stack->turn)
		stack->walks->number = stack->number;
}

bool
hh_stack_capture(struct hh_stack *stack)
{
	struct hh_walks *walks = walks_of(hh_mine);

	stack->walks = walks;
	stack->count = hh_unwind(walks, stack->pcs, hh_stack_depth,
	    &stack->number);
	if (stack->number)
		return true;
	stack->turn = walks ? walks->turn : 0;
	stack->number = hh_frame_find(stack->pcs, stack->count);
	if (stack->number)
		keep(stack);
	return stack->number;
}

uint32_t
hh_stack_number(struct hh_stack *stack, struct hh_stream *s)
{
	if (stack->number)
		return stack->number;
	stack->number = hh_frame_number(s, stack->pcs, stack->count);
	keep(stack);
	return stack->number;
}
