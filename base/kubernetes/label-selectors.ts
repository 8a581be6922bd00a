/** One condition on labels. */
export interface Requirement {
  key: string
  operator: 'in' | 'notin' | 'exists' | '!' | 'gt' | 'lt'
  values: readonly string[]
}

export function isMet({ key, operator, values }: Requirement, labels: Record<string, string>): boolean {
  const value = Object.hasOwn(labels, key) ? labels[key] : undefined
  switch (operator) {
    case 'in':
      return value !== undefined && values.includes(value)
    case 'notin':
      return value === undefined || !values.includes(value)
    case 'exists':
      return value !== undefined
    case '!':
      return value === undefined
    case 'gt':
      return value !== undefined && Number(value) > Number(values[0])
    case 'lt':
      return value !== undefined && Number(value) < Number(values[0])
  }
}

/** A selector of labels, as objects name one (`metav1.LabelSelector`). */
export interface LabelSelector {
  matchLabels?: Record<string, string>
  matchExpressions?: { key: string; operator: keyof typeof EXPRESSION_OPERATORS; values?: string[] | null }[]
}

const EXPRESSION_OPERATORS = { In: 'in', NotIn: 'notin', Exists: 'exists', DoesNotExist: '!' } as const

/** True if labels have all that a selector asks for. */
export function selectsLabels(
  { matchLabels = {}, matchExpressions = [] }: LabelSelector,
  labels: Record<string, string>,
) {
  const equal = Object.entries(matchLabels).map(([key, value]): Requirement => ({
    key,
    operator: 'in',
    values: [value],
  }))
  const others = matchExpressions.map(({ key, operator, values }): Requirement => ({
    key,
    operator: EXPRESSION_OPERATORS[operator],
    values: values ?? [],
  }))
  return [...equal, ...others].every((one) => isMet(one, labels))
}

/** True if a selector asks for nothing: it selects no object. */
export const isEmptySelector = ({ matchLabels = {}, matchExpressions = [] }: LabelSelector): boolean =>
  Object.keys(matchLabels).length === 0 && matchExpressions.length === 0
