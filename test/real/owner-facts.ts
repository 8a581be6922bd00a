/** The facts of an owner who has published everything, as in `project.json`. */
export const OWNER_FACTS = {
  repository: 'https://forge.example/owner/ironstage',
  homepage: '',
  bugs: '',
  security: '',
  goModule: 'forge.example/owner/ironstage/clients/go',
  npmPackage: '@owner/ironstage',
  containerImage: 'registry.example/owner/ironstage',
}
