import { fidelityMutants } from './fidelity-mutant.js'

const RULES = { file: 'ironic-mock/api/check-inspection-rule.ts' }

/** Rows of Ironic's API. */
export const API_MUTANTS = fidelityMutants('ironic-api', [
  {
    row: 'A body that is not JSON',
    does: 'answers 500',
    file: 'ironic-mock/api/read-arguments.ts',
    from: 'throw ironicErrors.bodyNotJson(',
    to: 'throw ironicErrors.serverFault(',
  },
  {
    ...RULES,
    row: 'Wrong arguments of an operator in an inspection rule',
    does: 'answers 500',
    from: 'if (problems.length > 0) throw new IronicError(400,',
    to: 'if (problems.length > 0) throw new IronicError(500,',
  },
  {
    ...RULES,
    row: 'An inspection rule without `conditions`',
    does: 'answers 500',
    from: 'for (const { op, args } of (rule.conditions ?? []) as RuleClause[])',
    to: 'for (const { op, args } of rule.conditions as RuleClause[])',
  },
  {
    row: '`DELETE /v1/inspection_rules`: 500',
    does: 'answers 500',
    file: 'ironic-mock/api/handlers/inspection-rule-handlers.ts',
    from: "await backend.conductor.resources.removeAll('inspection_rule')",
    to: "throw new Error('no rule of that uuid')",
  },
  {
    row: 'Links and `next` of inspection rules',
    does: 'links to what does not exist',
    file: 'base/wire/ironic/resource-fields.ts',
    from: "path: 'inspection_rules'",
    to: "path: 'inspection'",
  },
  {
    row: 'A PATCH can add a port to a portgroup of another node',
    does: 'lets it join',
    file: 'ironic-mock/api/port-rules.ts',
    from: 'if (group.node_uuid !== node)',
    to: 'if (group.node_uuid === "")',
  },
  {
    row: 'The error for a port name that is in use',
    does: 'speaks of a UUID',
    file: 'ironic-mock/conductor/records/store-errors.ts',
    from: 'return `${SUBJECTS[kind]} with name ${value} already exists.`',
    to: 'return `${SUBJECTS[kind]} with UUID ${value} already exists.`',
  },
  {
    row: 'On SQLite a conductor is shown',
    does: 'is dead after a minute',
    file: 'ironic-mock/api/handlers/conductor-handlers.ts',
    from: 'alive: true',
    to: 'alive: startedAt < 0',
  },
  {
    row: 'A full disk or database',
    does: 'answers 500',
    file: 'ironic-mock/api/ironic-api.ts',
    from: 'new IronicError(507, DISK_FULL)',
    to: 'new IronicError(500, DISK_FULL)',
  },
  {
    row: '`rebuild` of a node with neither',
    does: 'does not check',
    file: 'ironic-mock/api/nodes/provision.ts',
    from: '  checkRebuild(node, target)\n',
    to: '',
  },
  {
    row: 'The error for invalid steps quotes',
    does: 'quotes all of it',
    file: 'ironic-mock/api/nodes/provision.ts',
    from: 'return `${message}\\n\\nOn instance${place}:',
    to: 'return `${message}\\n\\nFailed validating a schema\\n\\nOn instance${place}:',
  },
  {
    row: 'Every lookup below 1.62',
    does: 'hands it out again',
    file: 'ironic-mock/conductor/agents/lookup.ts',
    from: '    agent_token: token,\n',
    to: "    agent_token: token ?? 'again',\n",
  },
  {
    row: 'Any number of large bodies at once',
    does: 'refuses for good',
    file: 'base/wire/http-bodies.ts',
    from: 'next({ status: 503, message: NO_BODY_MEMORY })',
    to: 'next({ status: 413, message: NO_BODY_MEMORY })',
  },
  {
    row: 'Bodies that are nested too deeply',
    does: 'does not name the limit',
    file: 'ironic-mock/api/read-arguments.ts',
    from: '`The request body is nested more than ${deepest} levels deep.`',
    to: "'The request body is nested too deeply.'",
  },
])
