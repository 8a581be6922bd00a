import { fidelityMutants } from './fidelity-mutant.js'

const API = { file: 'agent/http/api.ts' }
const RUNNER = { file: 'agent/command-runner.ts' }
const AGENT = { file: 'agent/agent.ts' }
const STEPS = { file: 'agent/extensions/steps-extension.ts' }
const INSPECTION = { file: 'agent/agent-inspection.ts' }
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
  {
    ...API,
    row: 'A synchronous command with wrong parameters answers 500',
    does: 'answers 500 to the list from then on',
    from: '      const commands = backend.commands()\n',
    to: "      const commands = backend.commands()\n      if (commands.some(({ error }) => error?.details.includes('needs the parameters'))) return fault(500, 'not serialisable')\n",
  },
  {
    row: 'A malformed command may be FAILED in its first answer',
    does: 'fails it at once',
    file: 'agent/agent-commands.ts',
    from: '      const refused = this.#options.runner.refused({ id, name, fullName }, command, params)\n',
    to: `      const step = params['step'] as { step?: string } | undefined
      const error = { type: 'CommandExecutionError', code: 500, message: 'Command execution failed', details: '' }
      const malformed = { status: 'FAILED', error, result: null } as const
      if (step && step.step === undefined) return this.#answered({ id, name, fullName }, malformed)
      const refused = this.#options.runner.refused({ id, name, fullName }, command, params)
`,
  },
  {
    ...API,
    row: 'A body that cannot be decoded: 400',
    does: 'accepts NaN',
    from: "JSON.parse(text.replace(/^\\ufeff/, ''))",
    to: "JSON.parse(text.replace(/^\\ufeff/, '').replaceAll('NaN', 'null'))",
  },
  {
    ...API,
    row: 'A body that is not an object, or is nested too deep',
    does: 'answers 500',
    from: "  if (!isObject(body) || typeof body.name !== 'string'",
    to: "  if (!isObject(body)) return fault(500, 'trips')\n  if (!isObject(body) || typeof body.name !== 'string'",
  },
  {
    row: 'Bodies may have any size',
    does: 'refuses them in no format of its own',
    file: 'agent/http/listener.ts',
    from: 'publicUrl, refuse: bodyRefused })',
    to: 'publicUrl, refuse: (status, why) => ({ status, headers: {}, body: JSON.stringify(why) }) })',
  },
  {
    ...STEPS,
    row: 'A node without `uuid` in a command',
    does: 'fails the step',
    from: '        if (isObject(params.node)) context.seen(params.node)\n',
    to: "        if (isObject(params.node) && params.node.uuid === undefined) throw new Error('uuid')\n        if (isObject(params.node)) context.seen(params.node)\n",
  },
  {
    ...STEPS,
    row: 'Parameters of asynchronous commands, and arguments of steps',
    does: "says it in Python's words",
    from: "'args is not an object')",
    to: "\"'str' object has no attribute 'items'\")",
  },
  {
    ...AGENT,
    row: 'A restarted IPA has lost token',
    does: 'has lost them',
    from: 'initialState(readSavedState(options.saved.read(), boot.id) ?? newBoot(',
    to: 'initialState(newBoot(',
  },
  {
    ...RUNNER,
    row: 'A running step dies with the agent',
    does: 'ends what it had started',
    from: '      const context = {\n        target,\n',
    to: `      const { executor } = target
      const dying: typeof executor = {
        ...executor,
        start: async (started) => {
          const run = await executor.start(started)
          signal.addEventListener('abort', () => void run.cancel())
          return run
        },
      }
      const context = {
        target: { ...target, executor: dying },
`,
  },
  {
    row: "After it posted its inventory the agent's lookup",
    does: 'holds nothing back',
    file: 'lab/stage/reservation-gate.ts',
    from: '        await this.#released(machine, request.signal)\n',
    to: '',
  },
  {
    row: 'A configdrive that `install_coreos` cannot use',
    does: 'looks at the disks first',
    file: 'steps/install-coreos/install-coreos.ts',
    from: '    const input = resolveInput({ args,',
    to: '    await nodeWithHints(context)\n    const input = resolveInput({ args,',
  },
  {
    row: 'The collector `extra-hardware` needs',
    does: 'needs it',
    file: 'agent/collectors/extra-hardware.ts',
    from: "  if (exit.kind === 'exited' && exit.code === 127) return {}\n",
    to: '',
  },
  {
    ...INSPECTION,
    row: 'Collectors of other packages',
    does: 'lists them',
    from: 'collectors.filter((name) => Object.hasOwn(COLLECTORS, name))',
    to: 'collectors.filter((name) => name !== undefined)',
  },
  {
    row: 'The collector `lldp` reads raw sockets',
    does: 'hears nothing of an interface with a link',
    file: 'agent/collectors/collect-lldp.ts',
    from: 'const frame = hasLink ?',
    to: 'const frame = !hasLink ?',
  },
  {
    row: 'The archive of logs also has `lshw`',
    does: 'has a file of each program',
    file: 'agent/log-collection.ts',
    from: "exit.kind === 'exited' && exit.code === NOT_FOUND ? undefined : stdout + stderr",
    to: 'stdout + stderr',
  },
  {
    row: 'An Ironic that does not answer `GET /`',
    does: 'ends',
    file: 'agent/reduce.ts',
    from: "      return retryLookup(state, 'discover', event.why, false, moment, rules)\n",
    to: "      return startOver(state, 'Ironic does not answer', moment)\n",
  },
  {
    row: 'A boot loader is installed for BIOS',
    does: 'takes any disk for one with a boot loader',
    file: 'agent/extensions/image-extension.ts',
    from: 'if (WHOLE_DISK.includes(root)) return',
    to: 'if (WHOLE_DISK.includes(root) || root !== null) return',
  },
  {
    row: '`finalize_rescue` hashes a plain password itself',
    does: 'needs no program for it',
    file: 'agent/extensions/rescue-extension.ts',
    from: "if (exit.kind === 'exited' && exit.code === 0) return stdout.trim()",
    to: 'return `$6$salt$${password.length}${stdout.trim()}`',
  },
  {
    row: "`finalize_rescue` and `lockdown` close the API's port",
    does: 'opens it again after a restart',
    file: 'agent/reduce.ts',
    from: '  if (saved.closed) return closeAgent(state, saved.closed)\n',
    to: '',
  },
  {
    row: 'Automatic TLS: an https callback',
    does: 'makes a certificate for each agent',
    file: 'agent/http/listener.ts',
    from: '(this.#identity ??= startTls(identity',
    to: '(this.#identity = startTls(identity',
  },
  {
    row: 'A restarted IPA makes a new key',
    does: 'makes a new one',
    file: 'agent/http/outgoing.ts',
    from: 'tls!.serve(identity, hostname',
    to: 'tls!.serve(null, hostname',
  },
  {
    row: 'Any method of a hardware manager can be called',
    does: 'calls what is no step',
    file: 'agent/agent-managers.ts',
    from: '    throw agentErrors.noSuchStep(name)\n',
    to: '    return null\n',
  },
  {
    row: 'Hardware managers are Python entry points',
    does: 'adds no steps of a file',
    file: 'steps/sdk/custom-managers.ts',
    from: '...(loose.length > 0 ? [custom] : [])',
    to: '...(loose.length > 99 ? [custom] : [])',
  },
  {
    row: "A machine's BMC switches it; IPA only switches off",
    does: 'ends with its machine always',
    file: 'apps/runs/agents/standalone-agent.ts',
    from: 'if (respawn) scope.spawn(switchOn',
    to: "if (respawn && machine.spec.id === '') scope.spawn(switchOn",
  },
  {
    row: 'Listens on every address at port 9999',
    does: 'advertises http whatever it is told',
    file: 'agent/http/listener.ts',
    from: "const { protocol = tls ? 'https' : 'http', port = server.port } = advertise",
    to: "const protocol = 'http'\n    const { port = server.port } = advertise",
  },
])
