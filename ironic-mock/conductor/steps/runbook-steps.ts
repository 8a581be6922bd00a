import type { JsonObject, RunbookRecord } from '../../../base/wire/index.js'

/** Steps of a runbook in its order, reduced to the fields of a planned step. */
export const runbookSteps = ({ steps }: Readonly<RunbookRecord>): JsonObject[] =>
  [...steps]
    .sort((a, b) => a.order - b.order)
    .map(({ interface: owner, step, args, order }) => ({ interface: owner, step, args, order }))
