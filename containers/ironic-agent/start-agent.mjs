import { spawn } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'

// Starts the agent as ironic-agent.service of a CoreOS live system starts Metal3's: its options are in
// /etc/ironic-python-agent and among the kernel's parameters, and the machine's file system is at /mnt/coreos.
//
// ironstage writes only a disk that was named: by the kernel parameter ironstage.device=SERIAL, by the variable
// IRONSTAGE_DEVICE, or by /etc/ironstage.yaml of the machine, which may have any option of `ironstage agent` and then also
// names the target.

const MACHINE = '/mnt/coreos'
const OPTIONS = '/etc/ironic-python-agent'
const MACHINE_OPTIONS = `${MACHINE}/etc/ironstage.yaml`

const kernelParameters = readFileSync('/proc/cmdline', 'utf8').trim()
const [, device] = /(?:^|\s)ironstage\.device=(\S+)/.exec(kernelParameters) ?? []

const argv = ['agent', '--target-root', MACHINE, '--config', OPTIONS, '--kernel-params', kernelParameters]
if (device !== undefined) argv.push('--target', 'local', '--device', device)
else if (existsSync(MACHINE_OPTIONS)) argv.push('--config', MACHINE_OPTIONS)
else if (process.env['IRONSTAGE_TARGET'] === undefined) argv.push('--target', 'local')

const NAMING = ['IRONSTAGE_DEVICE', 'IRONSTAGE_TARGET']
if (device === undefined && !existsSync(MACHINE_OPTIONS) && NAMING.every((name) => process.env[name] === undefined)) {
  process.stderr.write(
    'ironic-agent: no disk is named, and only a named disk is written\n' +
      '  try: add the kernel parameter ironstage.device=SERIAL, or write target: local and device: SERIAL into /etc/ironstage.yaml\n',
  )
  process.exit(2)
}

const agent = spawn('/usr/local/bin/ironstage', [...argv, ...process.argv.slice(2)], { stdio: 'inherit' })
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => agent.kill(signal))
agent.once('exit', (code) => {
  process.exitCode = code ?? 1
})
