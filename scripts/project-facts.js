import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

// Writes the facts of project.json and the version of package.json into the files that cannot read them: `npm run facts`.
// With --check it writes nothing, names the files that say something else, and ends with 1.
//
// An owner fills project.json. A fact that is empty is not published: the clients then run no package and no image of it.

const root = join(import.meta.dirname, '..')

/** Path of the Go module where no owner has given one. No proxy has it: the domain .test is reserved. */
const UNPUBLISHED_GO_MODULE = 'ironstage.test/ironstage'

/** Names on pages where no owner has given one: nobody can publish under them. */
const UNPUBLISHED = {
  repository: 'https://forge.example/OWNER/ironstage',
  npmPackage: '@OWNER/ironstage',
  containerImage: 'localhost/ironstage',
}

/** Pages and files that name what is published, with its version. */
const NAMING = [
  'README.md',
  'docs/install.md',
  'docs/containers.md',
  'docs/ci.md',
  'docs/in-a-test.md',
  'docs/questions.md',
  'docs/writing-a-step.md',
  'containers/ironstage/compose.yaml',
  'deploy/compose.yaml',
]

/** Files that import the Go module. */
const GO_IMPORTERS = [
  'clients/go/ironstage.go',
  'clients/go/example_test.go',
  'docs/clients.md',
  'docs/install.md',
  'examples/go/go.mod',
  'examples/go/timeout_test.go',
  'test/real/programs/clients/lab-clients/go/go.mod',
  'test/real/programs/clients/lab-clients/go/lab_test.go',
]

const URL_FORM = /^https:\/\/\S+$/
const FORMS = {
  repository: { form: URL_FORM, example: 'https://forge.example/owner/ironstage' },
  homepage: { form: URL_FORM, example: 'https://ironstage.example' },
  bugs: { form: URL_FORM, example: 'https://forge.example/owner/ironstage/issues' },
  security: { form: /^(https:\/\/\S+|mailto:\S+@\S+)$/, example: 'mailto:security@ironstage.example' },
  goModule: { form: /^[a-z0-9][a-z0-9.-]*\.[a-z]+(\/[\w.~-]+)+$/, example: 'forge.example/owner/ironstage/clients/go' },
  npmPackage: { form: /^(@[a-z0-9~-][\w.~-]*\/)?[a-z0-9~-][\w.~-]*$/, example: '@owner/ironstage' },
  containerImage: { form: /^[a-z0-9.-]+(:\d+)?(\/[a-z0-9._-]+)+$/, example: 'registry.example/owner/ironstage' },
}

/** The facts of a file, checked. */
export function readFacts(path = join(root, 'project.json')) {
  const facts = JSON.parse(readFileSync(path, 'utf8'))
  for (const name of Object.keys(facts))
    if (!(name in FORMS))
      throw new Error(`project.json: "${name}" is no fact; they are ${Object.keys(FORMS).join(', ')}`)
  for (const [name, { form, example }] of Object.entries(FORMS)) {
    const value = facts[name]
    if (typeof value !== 'string')
      throw new Error(`project.json lacks "${name}", which is a text, empty or as in ${example}`)
    if (value !== '' && !form.test(value)) throw new Error(`project.json: ${name} is "${value}", not as in ${example}`)
  }
  return facts
}

/** What the files say that follow from the facts, by path. */
export function factFiles(folder = root) {
  const facts = readFacts(join(folder, 'project.json'))
  const files = new Map()
  const edit = (path, change) => {
    const file = join(folder, path)
    if (existsSync(file)) files.set(path, change(files.get(path) ?? readFileSync(file, 'utf8')))
  }
  const { version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  edit('package.json', (text) => packageFile(text, facts))
  const module = goModuleOf(folder)
  for (const path of ['clients/go/go.mod', ...GO_IMPORTERS])
    edit(path, (text) => text.replaceAll(module, facts.goModule || UNPUBLISHED_GO_MODULE))
  files.set('clients/go/release.go', goRelease(version, facts))
  files.set('clients/python/ironstage/_release.py', pythonRelease(version, facts))
  edit('clients/python/pyproject.toml', (text) => between(text, '# Of project.json:', pythonUrls(facts)))
  edit('SECURITY.md', (text) => between(text, '<!-- Of project.json: -->', securityContact(facts)))
  edit('.github/ISSUE_TEMPLATE/config.yml', (text) => between(text, '# Of project.json:', contactLinks(facts)))
  const published = facts.npmPackage && `${facts.npmPackage}@${version}`
  for (const path of ['ci/github-action/action.yml', 'templates/ironstage.yml'])
    edit(path, (text) => text.replace(/^( *default: ).*(?= # npm package)/m, `$1'${published}'`))
  for (const path of ['docs/clients.md', 'docs/install.md'])
    edit(path, (text) => text.replace(/(?<=^go get \S+@v|^pip install ironstage==)\S+$/gm, version))
  for (const path of NAMING) edit(path, (text) => withPublishedNames(text, facts, version))
  for (const place of ['containers/ironstage/kubernetes', 'deploy/kubernetes'])
    edit(`${place}/kustomization.yaml`, (text) =>
      text
        .replace(/(?<=newName: )\S+(?= # image name)/, imageName(facts.containerImage, 'ironstage'))
        .replace(/(?<=newTag: )\S+(?= # image tag)/, version),
    )
  edit('examples/ci/gitlab-ci.yml', (text) =>
    text.replace(/(?<=^ *package: ').*(?='$)/m, `${facts.npmPackage || 'ironstage'}@${version}`),
  )
  return files
}

function withPublishedNames(text, facts, version) {
  const release = `${facts.repository || UNPUBLISHED.repository}/releases/download/v${version}/ironstage-${version}-linux-`
  const npmPackage = `${facts.npmPackage || UNPUBLISHED.npmPackage}@${version}`
  return text
    .replace(/(?<=npx --yes )[^\s`]+/g, npmPackage)
    .replace(/(?<=npm install (?:--\S+ )*)ironstage(?:@[^\s`]+)?(?=[\s`])/g, asIronstage(npmPackage))
    .replace(/https:\/\/\S+\/releases\/download\/\S+-linux-/g, release)
    .replace(/[^\s`"']+\/(ironstage|ironic-agent):\d+\.\d+\.\d+[-.\w]*/g, (_, image) => {
      return `${imageName(facts.containerImage, image)}:${version}`
    })
    .replace(/(?<=ironstage-|ironic-agent-)\d+\.\d+\.\d+[-.\w]*(?=-linux-)/g, version)
}

/** What npm installs under the name that all imports have: a project that installs the bare name may get another owner's. */
const asIronstage = (npmPackage) => (npmPackage.startsWith('ironstage@') ? npmPackage : `ironstage@npm:${npmPackage}`)

/** The agent's image is beside that of the server: `--agent-registry` finds it there. */
export const imageName = (server, image) =>
  (server || UNPUBLISHED.containerImage).replace(/[^/]+$/, (own) => {
    return image === 'ironstage' ? own : image
  })

/** Path of the Go module as its go.mod says it. */
export const goModuleOf = (folder = root) =>
  /^module (\S+)$/m.exec(readFileSync(join(folder, 'clients/go/go.mod'), 'utf8'))[1]

function packageFile(text, facts) {
  const document = {}
  for (const [name, value] of Object.entries(JSON.parse(text))) {
    if (['homepage', 'repository', 'bugs', 'ironstage'].includes(name)) continue
    document[name] = value
    if (name !== 'license') continue
    if (facts.homepage) document.homepage = facts.homepage
    if (facts.repository) document.repository = { type: 'git', url: `git+${facts.repository}.git` }
    if (facts.bugs) document.bugs = { url: facts.bugs }
  }
  document.name = facts.npmPackage || 'ironstage'
  // Read by `step new`, which prints the same as the pages.
  if (facts.npmPackage) document.ironstage = { installAs: asIronstage(`${facts.npmPackage}@${document.version}`) }
  return `${JSON.stringify(document, null, 2)}\n`
}

const goRelease = (version, { npmPackage, containerImage }) => `package ironstage

// Written by \`npm run facts\`.
const (
	// Version of ironstage that this client starts where it has to fetch one.
	Version = "${version}"

	// npmPackage is the name under which ironstage is published, containerImage its image: empty where it is not.
	npmPackage     = "${npmPackage}"
	containerImage = "${containerImage}"
)
`

const pythonRelease = (version, { npmPackage, containerImage }) => `# Written by \`npm run facts\`.

#: Version of ironstage that this client starts where it has to fetch one.
VERSION = '${version}'

#: The name under which ironstage is published, and its container image: empty where it is not.
NPM_PACKAGE = '${npmPackage}'
CONTAINER_IMAGE = '${containerImage}'
`

function pythonUrls({ homepage, repository, bugs }) {
  const urls = { Homepage: homepage, Repository: repository, Issues: bugs }
  const lines = Object.entries(urls).filter(([, url]) => url)
  return lines.length === 0 ? [] : ['[project.urls]', ...lines.map(([name, url]) => `${name} = "${url}"`)]
}

const securityContact = ({ security }) =>
  security === ''
    ? ['This copy of ironstage has no security contact yet: its owner writes one into `project.json`.']
    : [`Report a vulnerability to <${security.replace('mailto:', '')}>, not in a public issue.`]

function contactLinks({ security, homepage }) {
  const links = [
    ['A vulnerability', security, 'Please report it here and not in an issue.'],
    ['Guides and reference', homepage, 'Most questions have an answer here.'],
  ].filter(([, url]) => url)
  if (links.length === 0) return ['contact_links: []']
  return [
    'contact_links:',
    ...links.flatMap(([name, url, about]) => [`  - name: ${name}`, `    url: ${url}`, `    about: ${about}`]),
  ]
}

/** Replaces what follows a line up to the next empty one, or the end. */
function between(text, mark, lines) {
  const [before, after] = text.split(`${mark}\n`)
  if (after === undefined) throw new Error(`a file lacks the line "${mark}"`)
  // The mark's own line may end at the empty one.
  const end = `\n${after}`.indexOf('\n\n')
  return `${before}${mark}\n${lines.map((line) => `${line}\n`).join('')}${end === -1 ? '' : after.slice(end)}`
}

function main(argv) {
  const check = argv.includes('--check')
  const stale = []
  for (const [path, text] of factFiles()) {
    const file = join(root, path)
    if (existsSync(file) && readFileSync(file, 'utf8') === text) continue
    stale.push(path)
    if (!check) writeFileSync(file, text)
  }
  for (const path of stale) process.stdout.write(`${check ? 'not as project.json says' : 'written'}: ${path}\n`)
  if (check && stale.length > 0) process.exitCode = 1
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) main(process.argv.slice(2))
