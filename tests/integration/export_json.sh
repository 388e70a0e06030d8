# SPDX-License-Identifier: LGPL-2.1-or-later
# The JSON exports, in the eyes of those they are for: speedscope's schema, the Firefox Profiler's
# own loader. Both come from the npm registry.
. "${BASH_SOURCE%/*}/lib.sh"

need_program npm node tar jq
"$PEVREC" record -e cpu-clock -F 499 -g -o one.data -- \
	python3 -c 'import time
until = time.monotonic() + 1
while time.monotonic() < until: sorted(range(1000))' 2>log || skip "nothing can be recorded: $(cat log)"
recorded=$(grep -oE '[0-9]+ samples' log | cut -d' ' -f1)
"$PEVREC" export --format speedscope -o speedscope.json one.data
"$PEVREC" export --format firefox -o firefox.json one.data
[ "$(jq '[.threads[].samples.weight | add] | add' firefox.json)" = "$recorded" ] ||
	fail "the Firefox Profiler would not see all $recorded samples"
periods=$("$PEVREC" export --format folded one.data | awk '{ n += $NF } END { printf "%d", n }')
[ "$(jq '[.profiles[].weights | add] | add' speedscope.json)" = "$periods" ] ||
	fail "speedscope would not see all of $periods ns"
jq -e '.profiles | all((.samples | length) == (.weights | length))' speedscope.json >/dev/null ||
	fail "samples and weights are not pairs"

export npm_config_cache=$TEST_DIR/npm npm_config_fetch_retries=1 npm_config_fetch_timeout=20000
npm pack --silent speedscope ajv@6 fast-deep-equal@3 fast-json-stable-stringify@2 json-schema-traverse@0.4 \
	uri-js@4 punycode@2 @firefox-devtools/profiler-cli >/dev/null 2>&1 || skip "needs the npm registry"
for archive in *.tgz; do
	name=${archive%-[0-9]*}
	[ "$name" != firefox-devtools-profiler-cli ] || name=profiler-cli
	mkdir -p "node_modules/$name"
	tar xzf "$archive" -C "node_modules/$name" --strip-components=1
done
node -e '
const Ajv = require("ajv"), fs = require("fs");
const schema = JSON.parse(fs.readFileSync("node_modules/speedscope/dist/release/file-format-schema.json"));
const check = new Ajv().addMetaSchema(require("ajv/lib/refs/json-schema-draft-06.json")).compile(schema);
if (!check(JSON.parse(fs.readFileSync("speedscope.json")))) {
	console.error(check.errors);
	process.exit(1);
}' || fail "the schema of speedscope refuses it"

profiler() {
	timeout 60 node node_modules/profiler-cli/dist/profiler-cli.js "$@"
}
at_exit profiler stop --all
profiler load firefox.json >loaded 2>&1 || { cat loaded; skip "the loader of the Firefox Profiler does not run here"; }
profiler thread functions >functions 2>&1
name=$(jq -r '.threads[0] | .stringArray[.funcTable.name[.frameTable.func[.stackTable.frame[.samples.stack[0]]]]]' firefox.json)
grep -qF "$name" functions || fail "the Firefox Profiler does not know $name: $(cat loaded functions)"
