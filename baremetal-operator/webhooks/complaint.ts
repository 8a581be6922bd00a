/** A refusal of a webhook: the field where it is, as far as it is one, and the sentence. */
export interface WebhookComplaint {
  path: readonly (string | number)[]
  message: string
}

export const complaint = (path: readonly (string | number)[], message: string): WebhookComplaint => ({ path, message })

/** Complaints, or what a rule does not find. */
export type MaybeComplaint = WebhookComplaint | undefined

export const onlyComplaints = (found: readonly MaybeComplaint[]): WebhookComplaint[] =>
  found.filter((each) => each !== undefined)

/** As k8s.io/apimachinery's NewAggregate puts errors into one sentence: each once, several in brackets. */
export function aggregated(complaints: readonly WebhookComplaint[]): string | undefined {
  const messages = [...new Set(complaints.map(({ message }) => message))]
  return messages.length > 1 ? `[${messages.join(', ')}]` : messages[0]
}
