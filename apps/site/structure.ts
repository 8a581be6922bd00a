/** A page of the site that is a file of the checkout. */
export interface SitePage {
  /** Path of its Markdown in the checkout. */
  source: string
  /** Its address, without a suffix. */
  to: string
  /** Its name in the list of pages. */
  text: string
}

/** Pages that are made from the program, in the place of the group that names them. */
export type MadePages = 'commands' | 'control API' | 'TypeScript API'

/** Pages below one title of the list. */
export interface PageGroup {
  text: string
  pages: readonly SitePage[]
  made?: MadePages
  isClosed?: boolean
}

/** A kind of page, with a list of its own. */
export interface SiteSection {
  text: string
  /** First part of the addresses of its pages. */
  folder: string
  groups: readonly PageGroup[]
}

const doc = (text: string, to: string, file = `${to.split('/').at(-1)}.md`): SitePage => ({
  source: `docs/${file}`,
  to,
  text,
})

const TUTORIALS: SiteSection = {
  text: 'Tutorials',
  folder: 'tutorials',
  groups: [
    {
      text: 'Tutorials',
      pages: [
        doc('First deployment', 'tutorials/first-deployment'),
        doc('First fault', 'tutorials/first-fault'),
        doc('First step of your own', 'tutorials/first-step', 'writing-a-step.md'),
        doc('First night in the lab', 'tutorials/first-night', 'hardware-lab.md'),
      ],
    },
  ],
}

const GUIDES: SiteSection = {
  text: 'How-to',
  folder: 'how-to',
  groups: [
    {
      text: 'Start here',
      pages: [
        doc('Install', 'how-to/install'),
        doc('Containers', 'how-to/containers'),
        doc('Which command for what', 'how-to/tasks'),
        doc('Thirty questions', 'how-to/questions'),
        { source: 'examples/README.md', to: 'how-to/examples', text: 'Examples that run' },
      ],
    },
    {
      text: 'Clients of Ironic',
      pages: [
        doc('Go, Python, TypeScript', 'how-to/clients'),
        doc('Tests with Vitest or Jest', 'how-to/in-a-test'),
        doc('A lab in a CI', 'how-to/ci'),
        doc('Watch a lab in a browser', 'how-to/dashboard'),
        doc('Control a running lab', 'how-to/control'),
        doc('Random faults', 'how-to/chaos'),
        doc('Record and compare', 'how-to/recordings'),
      ],
    },
    {
      text: 'Metal3 and clusters',
      pages: [
        doc('Hosts with kubectl', 'how-to/cluster'),
        doc("BareMetal Operator's own binary", 'how-to/bmo'),
        doc('Rehearse an upgrade', 'how-to/rehearse'),
        doc('Releases in registries', 'how-to/releases'),
        doc('Streams and boot images', 'how-to/streams'),
      ],
    },
    {
      text: 'Hardware labs',
      pages: [
        doc('BMCs over Redfish', 'how-to/redfish'),
        doc('BMC dialects', 'how-to/bmc-dialects'),
        doc('A dump of your own BMC', 'how-to/bmc-dumps'),
        doc('BMCs over IPMI', 'how-to/ipmi'),
        doc('A fleet for a real Ironic', 'how-to/fleet'),
        doc('Several processes, one Ironic', 'how-to/scale'),
        doc('CoreOS as the ramdisk', 'how-to/coreos-ramdisk'),
        doc('Real disks and SSH', 'how-to/real-targets'),
      ],
    },
  ],
}

const REFERENCE: SiteSection = {
  text: 'Reference',
  folder: 'reference',
  groups: [
    {
      text: 'Reference',
      pages: [
        doc('All commands', 'reference/commands'),
        doc('Ironic and its configuration', 'reference/ironic'),
        doc('Hardware', 'reference/hardware'),
        doc('Faults', 'reference/faults'),
        doc('Errors', 'reference/errors'),
        doc('State folder', 'reference/state-folder'),
        doc('Supported versions', 'reference/support'),
        { source: 'CHANGELOG.md', to: 'reference/changelog', text: 'Changes' },
      ],
    },
    { text: 'Commands', pages: [], made: 'commands', isClosed: true },
    { text: 'Control API', pages: [], made: 'control API', isClosed: true },
    { text: 'TypeScript API', pages: [], made: 'TypeScript API', isClosed: true },
    {
      text: 'Differences from upstream',
      isClosed: true,
      pages: [
        doc("Ironic's API", 'reference/fidelity/ironic-api', 'fidelity/ironic-api.md'),
        doc('Conductor', 'reference/fidelity/conductor', 'fidelity/conductor.md'),
        doc('Configuration and access', 'reference/fidelity/configuration', 'fidelity/configuration.md'),
        doc('Agent', 'reference/fidelity/agent', 'fidelity/agent.md'),
        doc('Steps', 'reference/fidelity/steps', 'fidelity/steps.md'),
        doc('Steps on a machine', 'reference/fidelity/steps-on-a-machine', 'fidelity/steps-on-a-machine.md'),
        doc('Ignition configs', 'reference/fidelity/ignition', 'fidelity/ignition.md'),
        doc('coreos-installer', 'reference/fidelity/coreos-installer', 'fidelity/coreos-installer.md'),
        doc('Machines behind SSH', 'reference/fidelity/ssh-machines', 'fidelity/ssh-machines.md'),
        doc('Machine', 'reference/fidelity/machine', 'fidelity/machine.md'),
        doc('IPMI', 'reference/fidelity/ipmi', 'fidelity/ipmi.md'),
        doc('Redfish', 'reference/fidelity/redfish', 'fidelity/redfish.md'),
        doc('Streams', 'reference/fidelity/streams', 'fidelity/streams.md'),
      ],
    },
  ],
}

const EXPLANATION: SiteSection = {
  text: 'Explanation',
  folder: 'explanation',
  groups: [
    {
      text: 'Explanation',
      pages: [
        doc('How Ironic deploys', 'explanation/how-ironic-deploys'),
        doc('How true this is', 'explanation/fidelity'),
        doc('The clock of a lab', 'explanation/lab-time'),
        doc('Confinement', 'explanation/confinement'),
        doc('Architecture', 'explanation/architecture'),
      ],
    },
  ],
}

const INTERNALS: SiteSection = {
  text: 'Internals',
  folder: 'internals',
  groups: [
    {
      text: 'Internals and evidence',
      pages: [
        { source: 'CONTRIBUTING.md', to: 'internals/contributing', text: 'Contributing' },
        doc('First hours of seven readers', 'internals/first-hours'),
        doc('Design coverage', 'internals/design-coverage'),
        doc('Speed and size', 'internals/performance'),
        doc('Dependencies', 'internals/dependencies'),
        { source: 'SECURITY.md', to: 'internals/security', text: 'Security' },
      ],
    },
  ],
}

/** All pages of the site, in the order of its lists. */
export const SITE_SECTIONS: readonly SiteSection[] = [TUTORIALS, GUIDES, REFERENCE, EXPLANATION, INTERNALS]

/** Pages that are files of the checkout. */
export const SITE_PAGES: readonly SitePage[] = SITE_SECTIONS.flatMap(({ groups }) =>
  groups.flatMap(({ pages }) => pages),
)
