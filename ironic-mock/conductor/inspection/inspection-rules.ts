import type { InspectionRuleRecord, JsonObject } from '../../../base/wire/index.js'
import type { InspectionConf } from './inspection-conf.js'
import { runRuleAction, RuleFailure, type RuleSubject } from './rule-actions.js'
import { maskRuleValues, type RuleContext } from './rule-format.js'
import { isConditionMet } from './rule-operators.js'

type InspectionRule = Pick<InspectionRuleRecord, 'uuid' | 'priority' | 'sensitive' | 'scope' | 'conditions' | 'actions'>

/** Rules of the configuration; those without a uuid get a number as uuid. */
function builtIn(list: readonly JsonObject[]): InspectionRule[] {
  let number = 0
  return list.map((rule) => ({
    uuid:
      typeof rule.uuid === 'string'
        ? rule.uuid
        : `00000000-0000-0000-0000-${(number++).toString(16).padStart(12, '0')}`,
    priority: Number(rule.priority ?? 0),
    sensitive: rule.sensitive === true,
    scope: typeof rule.scope === 'string' ? rule.scope : null,
    conditions: (rule.conditions ?? []) as InspectionRule['conditions'],
    actions: (rule.actions ?? []) as InspectionRule['actions'],
  }))
}

/**
 * Applies inspection rules to the subject, highest priority first. Changes by rules before a failure stay. Returns the
 * error that fails the inspection, if any.
 */
export function applyRules(
  stored: readonly InspectionRuleRecord[],
  conf: InspectionConf,
  subject: RuleSubject,
): string | undefined {
  const rules: InspectionRule[] = [...stored.filter(({ phase }) => phase === 'main'), ...builtIn(conf.builtInRules)]
  // Sorting is stable, so rules of one priority keep their order.
  for (const rule of rules.sort((a, b) => b.priority - a.priority)) {
    if (rule.scope !== null && rule.scope !== subject.node.properties.inspection_scope) continue
    const masked = conf.maskSecrets === 'always' || (conf.maskSecrets === 'sensitive' && !rule.sensitive)
    const shown = (data: JsonObject): JsonObject => (masked ? maskRuleValues(data) : data)
    const context = (): RuleContext => ({
      node: subject.node as unknown as JsonObject,
      inventory: shown(subject.inventory),
      plugin_data: shown(subject.pluginData),
    })
    try {
      if (rule.conditions.every((condition) => isConditionMet(condition, context())))
        for (const action of rule.actions) runRuleAction(action, subject, context)
    } catch (error) {
      if (error instanceof RuleFailure || (error as Error).message.startsWith('Inspection rule'))
        return (error as Error).message
      return `Failed to apply rule ${rule.uuid} to node ${subject.node.uuid}: ${(error as Error).message}`
    }
  }
  return undefined
}
