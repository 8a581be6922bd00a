/** A call of the agent's API. Paths are below the agent's root, `{id}` stands for one segment. */
export interface AgentOperation {
  readonly id: string
  readonly method: 'GET' | 'POST'
  /** The canonical path first, then the unversioned one that IPA serves too. */
  readonly paths: readonly string[]
  /** Whether the query parameter `agent_token` must be the agent's token. */
  readonly token: boolean
}

/** Everything the agent's API serves (IPA's source). */
export const AGENT_OPERATIONS = {
  root: { id: 'root', method: 'GET', paths: ['/'], token: false },
  version: { id: 'version', method: 'GET', paths: ['/v1/'], token: false },
  status: { id: 'status', method: 'GET', paths: ['/v1/status', '/status'], token: false },
  listCommands: { id: 'listCommands', method: 'GET', paths: ['/v1/commands/', '/commands/'], token: true },
  getCommand: { id: 'getCommand', method: 'GET', paths: ['/v1/commands/{id}', '/commands/{id}'], token: true },
  executeCommand: { id: 'executeCommand', method: 'POST', paths: ['/v1/commands/', '/commands/'], token: true },
} as const satisfies Record<string, AgentOperation>
export type AgentOperationId = keyof typeof AGENT_OPERATIONS
