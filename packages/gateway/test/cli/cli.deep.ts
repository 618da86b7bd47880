// Every script once more, with a process of its own for each command.

process.env.TOLLGATE_SCRIPTS = 'processes'
await import('./cli.test.ts')
