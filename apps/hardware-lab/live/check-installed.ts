import { UserError } from '../../../base/runtime/index.js'
import { openSshShell, shellLine, verifyBoot, type SshShell } from '../../../targets/index.js'
import type { HostIdentity } from '../../../targets/index.js'
import type { PostCheck } from '../hosts/host.js'
import type { HostContext } from '../pipeline/context.js'
import { limitsOf } from '../pipeline/stage-limits.js'
import type { PostCheckResult } from '../pipeline/run-state.js'
import { verifiesBoot } from './run-steps.js'

/** Proves that the machine runs the installed system from the chosen disk. */
export async function firstBoot(context: HostContext, signal: AbortSignal): Promise<'done' | 'skipped'> {
  const { host, state, access, clock, logger, every } = context
  const { nonce, live, facts } = state
  // The ramdisk of an Ironic elsewhere is unknown.
  if (!verifiesBoot(host) || !nonce || (!live && !context.ironic)) return 'skipped'
  const { signal: _, ...ssh } = await access.ssh(host)
  const verified = await verifyBoot({
    ssh,
    before: live && { identity: live.identity as unknown as HostIdentity, hostKey: live.hostKey },
    expected: {
      nonce,
      disk: { serial: facts.diskSerial, wwn: facts.diskWwn },
      hostname: host.hostname ?? host.name,
      appendKargs: host['append-kargs'] ?? [],
      deleteKargs: host['delete-kargs'] ?? [],
    },
    timeout: limitsOf(host, 'first-boot').time,
    every,
    clock,
    logger,
    signal,
  })
  state.checks = verified.checks.map(({ what, ok, found }) => ({ what, ok, found }))
  return 'done'
}

/** Largest output of a command that is looked at, in bytes. */
const MAX_COMMAND_OUTPUT_BYTES = 256 * 1024

/**
 * Runs the host's own commands on the installed system.
 *
 * @throws UserError `post-check`
 */
export async function postChecks(context: HostContext, signal: AbortSignal): Promise<'done' | 'skipped'> {
  const { host, state, access } = context
  const checks = host['post-checks'] ?? []
  if (checks.length === 0) return 'skipped'
  const ssh = await access.ssh(host)
  const pins = ssh.pins.installed.length > 0 || !state.nonce ? ssh.pins : { ...ssh.pins, installed: 'proven' as const }
  await using shell = await openSshShell({ ...ssh, pins, phase: 'installed', signal })
  if (state.nonce) {
    const { stdout } = await runShellLine(shell, `cat '${state.nonce.path}'`, signal)
    if (stdout.trim() !== state.nonce.secret)
      throw new UserError('post-check', `${host.name} does not run the installed system any more`)
  }
  const results: PostCheckResult[] = []
  for (const check of checks) results.push(await runPostCheck(shell, check, signal))
  state.postChecks = results
  const wrong = results.filter(({ ok }) => !ok)
  if (wrong.length === 0) return 'done'
  throw new UserError(
    'post-check',
    `${host.name}: ${wrong.map(({ command, found }) => `${command}: ${found}`).join('; ')}`,
  )
}

async function runPostCheck(shell: SshShell, check: PostCheck, signal: AbortSignal): Promise<PostCheckResult> {
  const { command, output, matches, exit: expected = 0 } = check
  const line = typeof command === 'string' ? command : shellLine(command)
  const { stdout, stderr, code } = await runShellLine(shell, line, signal)
  const printed = stdout.trim()
  const shown = JSON.stringify((printed || stderr.trim()).slice(0, 300))
  const wrong =
    code !== expected
      ? `it ended with ${code} instead of ${expected}, and printed ${shown}`
      : output !== undefined && printed !== output.trim()
        ? `it printed ${shown} instead of ${JSON.stringify(output.trim())}`
        : matches !== undefined && !new RegExp(matches).test(printed)
          ? `it printed ${shown}, which ${matches} does not match`
          : null
  return { command: line, ok: wrong === null, found: wrong ?? `as expected: ${shown}` }
}

async function runShellLine(shell: SshShell, line: string, signal: AbortSignal) {
  const channel = await shell.open(line, { signal })
  const texts = [channel.stdout, channel.stderr].map(async (stream) => {
    const parts: Uint8Array[] = []
    let length = 0
    for await (const bytes of stream) if ((length += bytes.length) <= MAX_COMMAND_OUTPUT_BYTES) parts.push(bytes)
    return Buffer.concat(parts).toString('utf8')
  })
  const [stdout = '', stderr = ''] = await Promise.all(texts)
  const exit = await channel.exit
  return { stdout, stderr, code: exit }
}
