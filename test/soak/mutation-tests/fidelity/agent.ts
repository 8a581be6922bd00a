import { fidelityMutants } from './fidelity-mutant.js'

const API = { file: 'agent/http/api.ts' }
const RUNNER = { file: 'agent/command-runner.ts' }
const HEARTBEAT = { file: 'agent/agent-heartbeat.ts' }

/** Rows of the agent. */
export const AGENT_MUTANTS = fidelityMutants('agent', [
  {
    ...RUNNER,
    row: 'A step whose result is not JSON',
    does: 'takes any result for JSON',
    from: 'const value = asJson(name, await command.run(params, context))',
    to: 'const value: unknown = await command.run(params, context)',
  },
  {
    ...API,
    row: 'A command whose name is no text',
    does: 'answers 500',
    from: "  if (!isObject(body) || typeof body.name !== 'string' || !isObject(body.params))\n",
    to: "  if (isObject(body) && 'name' in body && typeof body.name !== 'string') return fault(500, 'trips')\n  if (!isObject(body) || typeof body.name !== 'string' || !isObject(body.params))\n",
  },
  {
    ...API,
    row: 'Before its lookup the agent',
    does: 'answers as after its lookup',
    from: '    if (!backend.serving()) return signed(fault(503, NOT_SERVING))\n',
    to: '',
  },
  {
    ...HEARTBEAT,
    row: 'After a heartbeat that changed nothing',
    does: 'waits for minutes',
    from: 'if (heartbeat.unanswered && pace.repeatUnanswered !== null) {',
    to: 'if (heartbeat.unanswered && pace.repeatUnanswered === -1) {',
  },
  {
    row: 'Inspection data that Ironic does not expect yet',
    does: 'sends them once',
    file: 'agent/pace.ts',
    from: '{ ...IPA_PACE, repeatUnexpectedInspection: true }',
    to: '{ ...IPA_PACE }',
  },
  {
    row: 'When a command ends the agent sends a heartbeat',
    does: 'leaves no gap',
    file: 'agent/pace.ts',
    from: 'heartbeatGap: 5000',
    to: 'heartbeatGap: 0',
  },
  {
    row: 'The agent follows redirects of Ironic',
    does: 'does not say where it leads',
    file: 'agent/ironic-link.ts',
    from: 'if (status >= 300 && status < 400)',
    to: 'if (status === 399)',
  },
  {
    row: '`start_flow` takes any parameters',
    does: 'takes a flow in a flow',
    file: 'agent/extensions/flow-extension.ts',
    from: "      if (name === 'flow.start_flow') throw bad('a flow cannot be part of a flow')\n",
    to: '',
  },
  {
    row: 'Unknown options are ignored',
    does: 'takes mdns',
    file: 'agent/ipa-options.ts',
    from: "        if (url.startsWith('mdns')) throw 'http(s) URLs: this agent does not discover Ironic by multicast DNS'\n        if (!/^https?:\\/\\/./.test(url))",
    to: '        if (!/^(https?:\\/\\/.|mdns)/.test(url))',
  },
  {
    row: 'Options of the live system',
    does: 'does not know one',
    file: 'agent/ipa-options.ts',
    from: '  disk_wait_delay: seconds(3),\n',
    to: '',
  },
])
