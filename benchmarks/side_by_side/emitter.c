/* A CLI that does nothing but talk: enough of the stream-json protocol for a benchmark, fast enough never to be what is
 * measured. It answers initialize and every other request, and on a prompt writes prebuilt lines, asks hooks or
 * permissions, or both. Round trips are timed here, where the CLI would wait for them.
 *
 * EMIT in the environment says what to do, as name=value pairs separated by spaces:
 *   payload=FILE repeat=N   write the file's lines N times after a prompt, then a result
 *   rate=N                  pace these lines: N a second (0: as fast as they go)
 *   asks=N in_flight=N      ask N times after a prompt, at most in_flight unanswered at a time, then a result
 *   kind=hook|permission    what is asked
 *   gap_us=N                wait so long between an answer and the next request
 *   spread=N                instead of all that, put N requests between the repeats, waiting for no answer
 *   report=FILE             write there at the end, as JSON: asked, answered, lines, seconds, the times in microseconds
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define SLICE 65536
#define SESSION "0b5e2d6c-5d3f-4f0e-9d55-6f3f0f0c1a11"

static char *payload;
static size_t payload_size;
static size_t *line_at;
static long lines_in_payload;
static long repeat_count = 0, rate = 0, asks = 0, in_flight = 1, gap_us = 0, spread = 0;
static int permission = 0;
static char report_path[4096] = "";
static char hook_id[256] = "hook_0";

static pthread_mutex_t output = PTHREAD_MUTEX_INITIALIZER;
static sem_t slots;
static atomic_long asked, answered, lines_written;
static atomic_int asking_done;
static double *sent_at, *took;
static double flood_began, flood_ended;

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec / 1e9;
}

static void write_all(const char *bytes, size_t size) {
    while (size) {
        ssize_t count = write(1, bytes, size);
        if (count <= 0) pause(); /* nobody reads any more: the end of stdin ends us */
        bytes += count;
        size -= count;
    }
}

static void say(const char *line) {
    pthread_mutex_lock(&output);
    write_all(line, strlen(line));
    pthread_mutex_unlock(&output);
}

static void *say_and_free(void *line) {
    say(line);
    free(line);
    return NULL;
}

/* Answer without ever waiting for the reader of our output: whoever reads our input must go on. */
static void answer_request(const char *line) {
    pthread_t thread;
    if (pthread_mutex_trylock(&output) == 0) {
        write_all(line, strlen(line));
        pthread_mutex_unlock(&output);
    } else if (pthread_create(&thread, NULL, say_and_free, strdup(line)) == 0) {
        pthread_detach(thread);
    }
}

static void report(void) {
    if (!report_path[0]) return;
    char part[4200];
    snprintf(part, sizeof part, "%s.part", report_path);
    FILE *file = fopen(part, "w");
    if (!file) return;
    long total = atomic_load(&asked);
    double seconds = (flood_ended ? flood_ended : now()) - flood_began;
    fprintf(file, "{\"asked\": %ld, \"answered\": %ld, \"lines\": %ld, \"seconds\": %.6f, \"took\": [", total,
            atomic_load(&answered), atomic_load(&lines_written), flood_began ? seconds : 0.0);
    int first = 1;
    for (long i = 0; i < total; i++)
        if (took[i] > 0) {
            fprintf(file, "%s%.1f", first ? "" : ", ", took[i] * 1e6);
            first = 0;
        }
    fprintf(file, "]}\n");
    fclose(file);
    rename(part, report_path);
}

static void ask(void) {
    char line[2048];
    long number = atomic_fetch_add(&asked, 1);
    if (permission)
        snprintf(line, sizeof line,
                 "{\"type\":\"control_request\",\"request_id\":\"ask-%ld\",\"request\":{\"subtype\":\"can_use_tool\","
                 "\"tool_name\":\"Bash\",\"display_name\":\"Bash\",\"input\":{\"command\":\"ls -la /tmp/project\","
                 "\"description\":\"List the files\"},\"description\":\"List the files\",\"permission_suggestions\":"
                 "[{\"type\":\"addRules\",\"rules\":[{\"toolName\":\"Bash\",\"ruleContent\":\"ls:*\"}],\"behavior\":"
                 "\"allow\",\"destination\":\"localSettings\"}],\"tool_use_id\":\"toolu_%ld\"}}\n",
                 number, number);
    else
        snprintf(line, sizeof line,
                 "{\"type\":\"control_request\",\"request_id\":\"ask-%ld\",\"request\":{\"subtype\":\"hook_callback\","
                 "\"callback_id\":\"%s\",\"input\":{\"session_id\":\"" SESSION "\",\"transcript_path\":"
                 "\"/home/user/.claude/projects/p/" SESSION ".jsonl\",\"cwd\":\"/home/user/project\","
                 "\"permission_mode\":\"default\",\"hook_event_name\":\"PreToolUse\",\"tool_name\":\"Bash\","
                 "\"tool_input\":{\"command\":\"ls -la /tmp/project\",\"description\":\"List the files\"},"
                 "\"tool_use_id\":\"toolu_%ld\"},\"tool_use_id\":\"toolu_%ld\"}}\n",
                 number, hook_id, number, number);
    sent_at[number] = now();
    say(line);
}

static void result(void) {
    say("{\"type\":\"result\",\"subtype\":\"success\",\"duration_ms\":5,\"duration_api_ms\":4,\"is_error\":false,"
        "\"num_turns\":1,\"result\":\"done\",\"stop_reason\":\"end_turn\",\"session_id\":\"" SESSION "\","
        "\"total_cost_usd\":0.001,\"usage\":{\"input_tokens\":10,\"output_tokens\":10},\"uuid\":"
        "\"5b1e2d6c-5d3f-4f0e-9d55-6f3f0f0c1a12\"}\n");
}

static void init(void) {
    say("{\"type\":\"system\",\"subtype\":\"init\",\"cwd\":\"/home/user/project\",\"session_id\":\"" SESSION "\","
        "\"tools\":[\"Bash\",\"Edit\",\"Read\"],\"mcp_servers\":[],\"model\":\"claude-bench\",\"permissionMode\":"
        "\"default\",\"slash_commands\":[],\"apiKeySource\":\"none\",\"claude_code_version\":\"2.1.326\","
        "\"output_style\":\"default\",\"agents\":[],\"uuid\":\"6b1e2d6c-5d3f-4f0e-9d55-6f3f0f0c1a13\"}\n");
}

static void sleep_until(double when) {
    double left = when - now();
    if (left > 0) {
        struct timespec t = {(time_t)left, (long)((left - (time_t)left) * 1e9)};
        nanosleep(&t, NULL);
    }
}

static void write_lines(long first, long count) {
    size_t from = line_at[first], to = line_at[first + count];
    pthread_mutex_lock(&output);
    write_all(payload + from, to - from);
    pthread_mutex_unlock(&output);
    atomic_fetch_add(&lines_written, count);
}

static void write_once(void) {
    for (long first = 0; first < lines_in_payload;) {
        long next = first + 1;
        while (next < lines_in_payload && line_at[next + 1] - line_at[first] <= SLICE) next++;
        write_lines(first, next - first);
        first = next;
    }
}

static void write_paced(void) {
    double began = now();
    long written = 0, total = repeat_count * lines_in_payload;
    while (written < total && !(asks && atomic_load(&asking_done))) {
        long due = (long)((now() - began) * rate);
        if (due > total) due = total;
        while (written < due) {
            long first = written % lines_in_payload, count = due - written;
            if (count > lines_in_payload - first) count = lines_in_payload - first;
            if (count > 32) count = 32;
            write_lines(first, count);
            written += count;
        }
        sleep_until(began + (written + rate / 1000.0) / rate);
    }
}

static void *flood(void *unused) {
    flood_began = now();
    if (rate) {
        write_paced();
    } else {
        for (long i = 0; i < repeat_count; i++) {
            if (spread && i % (repeat_count / spread > 0 ? repeat_count / spread : 1) == 0 && asked < spread) ask();
            write_once();
        }
    }
    flood_ended = now();
    if (!asks) {
        report();
        result();
    }
    return unused;
}

static void *ask_all(void *unused) {
    for (long i = 0; i < asks; i++) {
        sem_wait(&slots);
        if (gap_us) usleep(gap_us);
        ask();
    }
    for (long i = 0; i < in_flight; i++) sem_wait(&slots);
    atomic_store(&asking_done, 1);
    report();
    result();
    return unused;
}

static void start(void *(*body)(void *)) {
    pthread_t thread;
    pthread_create(&thread, NULL, body, NULL);
    pthread_detach(thread);
}

static void prompted(void) {
    init();
    if (repeat_count) start(flood);
    if (asks) start(ask_all);
    if (!repeat_count && !asks) {
        say("{\"type\":\"assistant\",\"message\":{\"id\":\"msg_1\",\"type\":\"message\",\"role\":\"assistant\",\"model\":"
            "\"claude-bench\",\"content\":[{\"type\":\"text\",\"text\":\"done\"}],\"stop_reason\":null,\"usage\":"
            "{\"input_tokens\":10,\"output_tokens\":1}},\"parent_tool_use_id\":null,\"session_id\":\"" SESSION "\","
            "\"uuid\":\"7b1e2d6c-5d3f-4f0e-9d55-6f3f0f0c1a14\"}\n");
        result();
    }
}

/* Copy the first string after the key: the writers differ in spaces, never in the order that matters here. */
static int string_after(const char *line, const char *key, char *out, size_t room) {
    const char *at = strstr(line, key);
    if (!at) return 0;
    at = strchr(at + strlen(key), ':');
    if (!at || !(at = strchr(at, '"'))) return 0;
    const char *end = strchr(++at, '"');
    if (!end || (size_t)(end - at) >= room) return 0;
    memcpy(out, at, end - at);
    out[end - at] = 0;
    return 1;
}

static void handle(const char *line) {
    char id[256], answer[1024];
    if (strstr(line, "\"control_response\"")) {
        double at = now();
        long number;
        if (!string_after(line, "\"request_id\"", id, sizeof id) || sscanf(id, "ask-%ld", &number) != 1) return;
        took[number] = at - sent_at[number];
        atomic_fetch_add(&answered, 1);
        sem_post(&slots);
    } else if (strstr(line, "\"control_request\"")) {
        if (!string_after(line, "\"request_id\"", id, sizeof id)) return;
        string_after(line, "\"hookCallbackIds\"", hook_id, sizeof hook_id);
        snprintf(answer, sizeof answer,
                 "{\"type\":\"control_response\",\"response\":{\"subtype\":\"success\",\"request_id\":\"%s\",\"response\":"
                 "{\"commands\":[],\"output_style\":\"default\",\"claude_code_version\":\"2.1.326\"}}}\n",
                 id);
        answer_request(answer);
    } else if (strstr(line, "\"user\"")) {
        prompted();
    }
}

static void read_plan(char *plan) {
    for (char *item = strtok(plan, " "); item; item = strtok(NULL, " ")) {
        char *value = strchr(item, '=');
        if (!value) continue;
        *value++ = 0;
        if (!strcmp(item, "payload")) {
            int fd = open(value, O_RDONLY);
            struct stat about;
            if (fd < 0 || fstat(fd, &about)) exit(2);
            payload_size = about.st_size;
            payload = mmap(NULL, payload_size, PROT_READ, MAP_PRIVATE, fd, 0);
        } else if (!strcmp(item, "report")) {
            snprintf(report_path, sizeof report_path, "%s", value);
        } else if (!strcmp(item, "kind")) {
            permission = !strcmp(value, "permission");
        } else {
            long number = atol(value);
            if (!strcmp(item, "repeat")) repeat_count = number;
            if (!strcmp(item, "rate")) rate = number;
            if (!strcmp(item, "asks")) asks = number;
            if (!strcmp(item, "in_flight")) in_flight = number;
            if (!strcmp(item, "gap_us")) gap_us = number;
            if (!strcmp(item, "spread")) spread = number;
        }
    }
}

static void index_lines(void) {
    long room = 1024;
    line_at = malloc(room * sizeof *line_at);
    line_at[0] = 0;
    for (size_t at = 0; at < payload_size;) {
        const char *end = memchr(payload + at, '\n', payload_size - at);
        at = end ? (size_t)(end - payload) + 1 : payload_size;
        if (++lines_in_payload >= room) line_at = realloc(line_at, (room *= 2) * sizeof *line_at);
        line_at[lines_in_payload] = at;
    }
}

static void read_stdin(void) {
    size_t room = 1 << 20, have = 0;
    char *buffer = malloc(room);
    for (;;) {
        if (have + 1 >= room) buffer = realloc(buffer, room *= 2);
        ssize_t count = read(0, buffer + have, room - have - 1);
        if (count <= 0) return;
        have += count;
        buffer[have] = 0;
        char *line = buffer, *end;
        while ((end = memchr(line, '\n', have - (line - buffer)))) {
            *end = 0;
            handle(line);
            line = end + 1;
        }
        have -= line - buffer;
        memmove(buffer, line, have);
    }
}

int main(int count, char **words) {
    for (int i = 1; i < count; i++)
        if (!strcmp(words[i], "-v") || !strcmp(words[i], "--version")) {
            puts("2.1.326 (Claude Code)");
            return 0;
        }
    char *plan = getenv("EMIT");
    if (plan) read_plan(strdup(plan));
    if (payload) index_lines();
    long room = (asks > spread ? asks : spread) + 1;
    sent_at = calloc(room, sizeof *sent_at);
    took = calloc(room, sizeof *took);
    sem_init(&slots, 0, in_flight);
    read_stdin();
    report();
    _exit(0);
}
