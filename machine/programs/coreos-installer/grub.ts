import type { BootVolume } from '../../disk/boot-volume.js'
import { duringInstall, Failure } from './installer-error.js'
import type { ConsoleSpec } from '../../../coreos/index.js'

const CONSOLE_SETTINGS_START = '# CONSOLE-SETTINGS-START'
const CONSOLE_SETTINGS_END = '# CONSOLE-SETTINGS-END'

/** GRUB's commands for these consoles, as coreos-installer writes them (recorded for tty0 with ttyS1). */
export function grubCommands(consoles: readonly ConsoleSpec[]): string[] {
  const serial = consoles.flatMap(({ grub }) =>
    grub.kind === 'serial'
      ? [`serial --unit=${grub.unit} --speed=${grub.speed} --word=${grub.word} --parity=${grub.parity}`]
      : [],
  )
  const terminals = [...new Set(consoles.map(({ grub }) => (grub.kind === 'serial' ? 'serial' : 'console')))].sort()
  return [...serial, `terminal_input ${terminals.join(' ')}`, `terminal_output ${terminals.join(' ')}`]
}

/** Writes commands between the marker lines of console.cfg (in newer images) or grub.cfg. */
export async function setGrubConsole(volume: BootVolume, commands: readonly string[]): Promise<void> {
  const name = (await volume.exists('/grub2/console.cfg')) ? 'grub2/console.cfg' : 'grub2/grub.cfg'
  const text = await duringInstall(`reading ${name}`, () => volume.read(`/${name}`))
  await duringInstall(`updating ${name}`, async () => {
    const lines = text.toString('utf8').split('\n')
    const start = lines.indexOf(CONSOLE_SETTINGS_START)
    const end = lines.indexOf(CONSOLE_SETTINGS_END, start)
    if (start < 0 || end < 0) throw new Failure('missing substitution marker in grub.cfg')
    lines.splice(start + 1, end - start - 1, ...commands)
    await volume.write(`/${name}`, Buffer.from(lines.join('\n')))
  })
}
