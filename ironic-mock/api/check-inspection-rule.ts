import { defined } from '../../base/runtime/index.js'
import {
  IronicError,
  RULE_ACTIONS,
  RULE_CONDITIONS,
  formatClientValue,
  type JsonObject,
  type RuleOperator,
} from '../../base/wire/index.js'
import type { InspectionRuleRecord } from '../../base/wire/index.js'

interface RuleClause {
  op: string
  args: JsonObject | unknown[]
  loop?: JsonObject | unknown[]
  multiple?: string
}

const RULE_PHASES = ['main']
const MAX_RULE_PRIORITY = 9999

/**
 * Checks what the schema of a rule leaves out: phase, priority, the arguments of its operators. Upstream answers 500
 * for wrong arguments, here 400 with the same sentence; a difference on purpose.
 *
 * @throws IronicError 400
 */
export function checkRule(rule: JsonObject): void {
  const errors: string[] = []
  const phase = rule.phase ?? 'main'
  if (!RULE_PHASES.includes(formatClientValue(phase)))
    errors.push(`Invalid phase: ${formatClientValue(phase)}. Valid phases are: ${RULE_PHASES.join(', ')}`)
  if (Number(rule.priority ?? 0) > MAX_RULE_PRIORITY)
    errors.push(`Priority must be between 0 and ${MAX_RULE_PRIORITY} for user-defined rules.`)
  for (const { op, args } of (rule.conditions ?? []) as RuleClause[])
    checkOperation(RULE_CONDITIONS[op.replace(/^!/, '')]!, args)
  for (const { op, args } of rule.actions as RuleClause[]) checkOperation(RULE_ACTIONS[op]!, args)
  if (errors.length > 1) throw new IronicError(400, `Multiple validation errors occurred: ${errors.join('; ')}`)
  if (errors.length > 0) throw new IronicError(400, errors[0]!)
}

function checkOperation({ required, optional = [] }: RuleOperator, args: JsonObject | unknown[]): void {
  if (Array.isArray(args)) {
    const missing = required.slice(args.length)
    if (missing.length > 0) throw new IronicError(400, `Not enough arguments provided. Missing: ${missing.join(', ')}`)
    return
  }
  const names = Object.keys(args)
  const missing = required.filter((name) => !names.includes(name))
  const unexpected = names.filter((name) => !required.includes(name) && !optional.includes(name))
  const problems = [
    ...(missing.length > 0 ? [`missing required argument(s): ${missing.join(', ')}`] : []),
    ...(unexpected.length > 0 ? [`unexpected argument(s): ${unexpected.join(', ')}`] : []),
  ]
  if (problems.length > 0) throw new IronicError(400, problems.join('; '))
}

/**
 * Fields of a rule as they are stored: unknown members of operators are left out, and a loop is of `any` by default.
 */
export function storedRule(
  rule: JsonObject,
): Pick<InspectionRuleRecord, 'description' | 'priority' | 'phase' | 'sensitive' | 'actions' | 'conditions'> {
  const storedOperation = ({ op, args, loop }: RuleClause) => ({
    op,
    args,
    ...defined({ loop: isEmptyLoop(loop) ? undefined : loop! }),
  })
  return {
    description: (rule.description as string | null | undefined) ?? null,
    priority: Number(rule.priority ?? 0),
    phase: (rule.phase as string | null | undefined) ?? 'main',
    sensitive: Boolean(rule.sensitive),
    actions: (rule.actions as RuleClause[]).map(storedOperation),
    conditions: ((rule.conditions ?? []) as RuleClause[]).map((condition) => ({
      ...storedOperation(condition),
      ...defined({ multiple: isEmptyLoop(condition.loop) ? undefined : (condition.multiple ?? 'any') }),
    })),
  }
}

const isEmptyLoop = (loop: JsonObject | unknown[] | undefined): boolean =>
  loop === undefined || Object.keys(loop).length === 0
