import type { Mutant } from './mutant.js'

const AGENT = { file: 'coreos/agent/coreos-agent-options.ts', test: 'coreos/agent/agent-config.test.ts' }
const UNIT = { file: 'coreos/agent/agent-in-config.ts', test: 'coreos/agent/agent-in-config.test.ts' }
const NODE = { test: 'test/scenarios/node-image.test.ts' }
const PIVOT = { ...NODE, file: 'machine/os/pivot.ts' }

/** The agent's ramdisk, the installation, and the systems on machines. */
export const SYSTEM_MUTANTS: readonly Mutant[] = [
  {
    ...AGENT,
    row: '002 "use a custom registry',
    does: 'has another image by default',
    from: "'quay.io/metal3-io/ironic-agent'",
    to: "'quay.io/openshift/ironic-agent'",
    title: 'the image is the one of the design document, or the same from another registry',
  },
  {
    ...UNIT,
    row: '002 "inject Ignition configuration',
    does: 'takes no notice of the pull before the start',
    from: "commandsOf('ExecStartPre')",
    to: "commandsOf('ExecStartPost')",
    title: 'the original form pulls from a registry first, and runs by the short name',
  },
  {
    row: '002 "the root filesystem and the Ignition',
    does: 'puts the config into the initramfs alone',
    file: 'coreos/image-service/image-service.ts',
    test: 'test/scenarios/live-boot.test.ts',
    from: '(own ? { ignition: true } : { ignitionUrl: ignition })',
    to: '{ ignition: true }',
    title: 'the design document has the Ignition config at a URL, in the kernel arguments of all nodes',
  },
  {
    row: '002 "additional customizations',
    does: 'does not eject',
    file: 'steps/install-coreos/install-coreos.ts',
    test: 'test/scenarios/held-media.test.ts',
    from: 'if (input.ejectMedia) await ejectMedia(context)',
    to: 'if (input.ejectMedia) void ejectMedia',
    title: 'it boots its disk once the step has ejected what the live system was booted from',
  },
  {
    row: '002 "passwd: users: name: core',
    does: 'installs without the config',
    file: 'steps/install-coreos/argv.ts',
    test: 'test/scenarios/first-boot.test.ts',
    from: "['--ignition-file', ignitionFile]",
    to: '[]',
    title: 'what the config says is on the root filesystem: files, links, users, units',
  },
  {
    ...PIVOT,
    row: '003 "nodes always do an in-place OS update',
    does: 'lets the kubelet start on the base',
    from: "if (os.pivot && os.pivot.state !== 'done') return",
    to: "if (os.pivot && os.pivot.state === 'done') return",
    title: 'row 30: %s: a base image without the kubelet becomes the node image before the kubelet may start',
  },
  {
    ...PIVOT,
    row: '003 "the bootstrap node would switch',
    does: 'takes no notice of the file of bootstrap nodes',
    from: "if (bootstrap !== '') return bootstrap",
    hangs: true,
    to: "if (bootstrap === 'never') return bootstrap",
    title: 'row 30: %s: a base image without the kubelet becomes the node image before the kubelet may start',
  },
  {
    ...PIVOT,
    row: '003 the same, where the pull fails',
    does: 'takes an image with another digest',
    from: 'if (digest !== wanted)',
    hangs: true,
    to: 'if (digest.length !== wanted.length)',
    title: 'row 30: a pull that fails (%s) keeps the base and is tried again',
  },
  {
    ...NODE,
    row: '003 "kubelet will not be in the AMI"',
    does: 'has a kubelet in every system',
    file: 'machine/os/deployments.ts',
    from: 'image: null, files: [] }',
    to: "image: null, files: ['/usr/bin/kubelet'] }",
    title: 'a machine that no cluster wants anything of stays what its disk image brought',
  },
  {
    ...NODE,
    row: '003 "the operating system updates should come',
    does: 'stays on the base',
    file: 'machine/os/later-boot.ts',
    from: 'booted: staged, staged: null, rollback: os.booted, pivot',
    to: 'staged: null, rollback: os.booted, pivot',
    title: 'row 30: %s: a base image without the kubelet becomes the node image before the kubelet may start',
  },
]
