import { runToEnd } from '../../steps/index.js'
import { AgentError } from '../../base/wire/index.js'
import type { CommandContext, Extension } from './extension.js'

/** File from which the rescue ramdisk's script reads the password. */
const PASSWORD_FILE = '/etc/ipa-rescue-config/ipa-rescue-password'
const MARKER = '/etc/.rescued'

/** Extension `rescue`: hands the machine over to its user. */
export const rescueExtension: Extension = {
  finalize_rescue: {
    kind: 'sync',
    required: [],
    optional: ['rescue_password', 'hashed'],
    run: async ({ rescue_password: password = '', hashed = false }, context) => {
      const { target, close } = context
      if (typeof password !== 'string' || typeof hashed !== 'boolean')
        throw new AgentError('CommandExecutionError', 'rescue_password is not a text, or hashed neither true nor false')
      if (!target.has('hand-over'))
        throw new AgentError('CommandExecutionError', `${target.name} does not allow rescuing: its password is not set`)
      const { files } = target.executor
      const digest = hashed ? password : await hash(password, context)
      await files.write(PASSWORD_FILE, Buffer.from(`${digest}\n`), { mode: 0o600 })
      await files.write(MARKER, new Uint8Array())
      close('rescued')
      return null
    },
  },
}

/** Hashes a plain password; by default Ironic has hashed it. The password is never on a command line. */
async function hash(password: string, { target, signal }: CommandContext): Promise<string> {
  const argv = ['openssl', 'passwd', '-6', '-stdin'] as const
  const { exit, stdout } = await runToEnd(target.executor, argv, {
    effect: 'reads',
    stdin: Buffer.from(`${password}\n`),
    signal,
  })
  if (exit.kind === 'exited' && exit.code === 0) return stdout.trim()
  throw new AgentError(
    'CommandExecutionError',
    'the rescue password is not hashed, and openssl, which would do that, could not be run on the machine',
  )
}
