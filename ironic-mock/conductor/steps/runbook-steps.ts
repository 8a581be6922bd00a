import type { JsonObject, RunbookRecord } from '../../../wire/index.js'

/** The steps of a runbook in its order, with what of them matters to a node. */
export const runbookSteps = ({ steps }: Readonly<RunbookRecord>): JsonObject[] =>
  [...steps]
    .sort((a, b) => a.order - b.order)
    .map(({ interface: owner, step, args, order }) => ({ interface: owner, step, args, order }))
