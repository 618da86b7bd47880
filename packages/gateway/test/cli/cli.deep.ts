// Runs every script again, with a separate process for each command.

process.env.TOLLGATE_SCRIPTS = 'processes'
await import('./cli.test.ts')
