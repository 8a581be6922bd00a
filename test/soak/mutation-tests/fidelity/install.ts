import { fidelityMutants } from './fidelity-mutant.js'

const INPUT = { file: 'steps/install-coreos/install-input.ts' }
const INSTALL = { file: 'steps/install-coreos/install-coreos.ts' }

/** Rows of `install_coreos` and the other steps. */
export const INSTALL_MUTANTS = fidelityMutants('steps', [
  {
    ...INPUT,
    row: "The live system's host name",
    does: 'adds it in any case',
    from: 'const hostname = args.hostname ?? nameOf(',
    to: 'const hostname = args.hostname || nameOf(',
  },
  {
    ...INPUT,
    row: 'A config with an `/etc/hostname` of its own',
    does: 'drops its own',
    from: "args.own_hostname ?? 'duplicate'",
    to: "args.own_hostname ?? 'replace'",
  },
  {
    ...INPUT,
    row: 'The config is the configdrive',
    does: 'reads the user data alone',
    from: '    args.ignition === undefined\n',
    to: '    args.ignition === undefined || configdrive.user_data !== undefined\n',
  },
  {
    ...INPUT,
    row: '`coreos_copy_network: "false"` is true',
    does: 'takes any text for true',
    from: "if (typeof value === 'string') return !/^(false|no|off|0|)$/i.test(value.trim())",
    to: "if (typeof value === 'string') return value !== ''",
  },
  {
    ...INPUT,
    row: 'Any `image_source` is handed',
    does: 'hands any text over',
    from: "if (typeof url !== 'string' || !/^https?:\\/\\/\\S+$/.test(url))",
    to: "if (typeof url !== 'string')",
  },
  {
    ...INPUT,
    row: '`image_os_hash_value` and `image_checksum`',
    does: 'takes no notice of them',
    from: "return typeof hash === 'string' && /^[0-9a-f]{64}$/i.test(hash)",
    to: "return typeof hash === 'string' && /^[0-9a-f]{65}$/i.test(hash)",
  },
  {
    ...INPUT,
    row: 'Any Ignition text that is JSON',
    does: 'checks no config',
    from: 'sourced && ignition && args.check_ignition !== false ?',
    to: 'sourced && ignition && args.check_ignition === true ?',
  },
  {
    ...INSTALL,
    row: 'The EFI boot entry is made',
    does: 'makes it before the read-back',
    from: "  progress.stage('reading the disk back')\n",
    to: "  await makeBootEntry(context, device)\n  progress.stage('reading the disk back')\n",
  },
  {
    ...INSTALL,
    row: 'What a failed or killed installer leaves',
    does: 'leaves it',
    from: 'if (!input.preserveOnError) await leaveUnbootable',
    to: 'if (input.preserveOnError) await leaveUnbootable',
  },
  {
    ...INSTALL,
    row: 'Exit code 0 is a success',
    does: 'believes the exit code',
    from: 'if (differences.length > 0)',
    to: 'if (differences.length > 99)',
  },
  {
    ...INSTALL,
    row: 'The config is in `/tmp/ironic.ign`',
    does: 'leaves the file there',
    from: 'if (file && !signal.aborted) await target.executor.files.remove(file).catch(() => {})',
    to: 'if (file && signal.aborted) await target.executor.files.remove(file).catch(() => {})',
  },
  {
    ...INSTALL,
    row: 'Every disk of the machine may be written',
    does: 'lets every disk be written',
    from: 'if (!target.disks.mayWrite(chosen))',
    to: 'if (!target.disks.mayWrite(chosen) && chosen.size === 0)',
  },
  {
    row: 'Kernel arguments are joined by commas',
    does: 'joins them',
    file: 'steps/install-coreos/argv.ts',
    from: "...each('--append-karg', input.appendKargs)",
    to: "...each('--append-karg', [input.appendKargs.join(',')])",
  },
  {
    row: '`--preserve-on-error` always',
    does: 'passes it always',
    file: 'steps/install-coreos/argv.ts',
    from: "...(input.preserveOnError ? ['--preserve-on-error'] : [])",
    to: "'--preserve-on-error'",
  },
  {
    row: 'An image with a damaged end',
    does: 'looks at no digest',
    file: 'steps/images/checked-stream.ts',
    from: 'if (asset.sha256 !== null && asset.sha256 !== found)',
    to: 'if (asset.sha256 === found)',
  },
  {
    row: 'Three attempts after any failure',
    does: 'tries again after any failure',
    file: 'steps/install-coreos/run-installer.ts',
    from: 'const last = attempt === MAX_INSTALL_ATTEMPTS || !transient',
    to: 'const last = attempt === MAX_INSTALL_ATTEMPTS',
  },
  {
    row: 'User data for cloud-init',
    does: 'takes it for bad JSON',
    file: 'ignition/parse.ts',
    from: "'this is user data for cloud-init, not an Ignition config; CoreOS has no cloud-init to read it'",
    to: "'this is not JSON'",
  },
  {
    row: 'A missing argument is left out',
    does: 'leaves it out',
    file: 'steps/sdk/define-step.ts',
    from: ".filter(([, property]) => property['default'] !== undefined)",
    to: ".filter(([, property]) => property['default'] === property)",
  },
])
