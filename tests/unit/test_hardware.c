/* test_hardware.c - GPUs and NPUs that the operating system shows: exact values of the fixtures and
 * of a fake NVML, each device once, each with what is wrong with it. */
#include "probe/hardware.h"
#include "base/json.h"
#include "report/report_machine.h"
#include "scratch.h"
#include "subject_fixture.h"

#include <sys/stat.h>

#define FIXTURE(name) ASSAY_TEST_ROOT "/tests/fixtures/fsroot-" name

static struct assay__arena *arena;
static const struct assay__hardware *items;
static size_t count;

static void look(const char *root)
{
    struct assay_error error = {0};
    if (!arena) arena = assay__arena_new();
    CHECK(arena != NULL);
    if (root)
        setenv("ASSAY_FSROOT", root, 1);
    else
        unsetenv("ASSAY_FSROOT");
    CHECK_INT(assay__hardware_list(arena, &items, &count, &error), 0);
}

static const struct assay__hardware *at(const char *pci)
{
    const struct assay__hardware *found = NULL;
    for (size_t i = 0; i < count; i++) {
        if (strcmp(items[i].pci, pci) != 0) continue;
        CHECK(!found); /* once */
        found = &items[i];
    }
    if (!found) printf("  %s is not listed\n", pci);
    CHECK(found != NULL);
    return found;
}

static void check(const struct assay__hardware *item, const char *kind, const char *name,
                  const char *vendor, const char *driver, uint64_t bytes, const char *source)
{
    CHECK_STR(item->kind, kind);
    CHECK_STR(item->name, name);
    CHECK_STR(item->vendor, vendor);
    CHECK_STR(item->driver, driver);
    CHECK_INT(item->memory_bytes, bytes);
    CHECK_STR(item->source, source);
}

static void test_cards(void)
{
    look(FIXTURE("amdgpu-host"));
    CHECK_INT(count, 10);
    for (size_t i = 0; i < 8; i++)
        CHECK_STR(items[i].kind, "gpu");
    check(at("0000:01:00.0"), "gpu", "NVIDIA RTX A2000", "NVIDIA", "nvidia", 0,
          "/sys/class/drm/card0");
    CHECK_HAS(at("0000:01:00.0")->note, "NVML does not list it: ");
    check(at("0000:03:00.0"), "gpu", "AMD Radeon RX 7900 series (Navi 31)", "AMD", "amdgpu",
          25753026560, "/sys/class/drm/card1");
    CHECK_STR(at("0000:03:00.0")->note, "");
    check(at(""), "gpu", "", "AMD", "", 0, "/sys/class/drm/card2"); /* tells its vendor only */
    CHECK_STR(at("")->note, "");
    check(at("0000:04:00.0"), "gpu", "0x8086:0xe2ff", "Intel", "xe", 0, "/sys/class/drm/card3");
}

static void test_without_driver(void)
{
    look(FIXTURE("amdgpu-host"));
    check(at("0000:05:00.0"), "gpu", "0x10de:0x2330", "NVIDIA", "", 0, "/sys/bus/pci/devices");
    CHECK_STR(at("0000:05:00.0")->note, "no driver is loaded");
    CHECK_HAS(at("0000:05:00.0")->help, "sudo apt install nvidia-driver");
    CHECK_HAS(at("0000:06:00.0")->help, "sudo apt install nvidia-driver");
    CHECK_HAS(at("0000:06:00.0")->note, "its driver is nouveau");
    check(at("0000:07:00.0"), "gpu", "AMD Instinct MI210", "AMD", "vfio-pci", 0,
          "/sys/bus/pci/devices");
    CHECK_HAS(at("0000:07:00.0")->note, "reserved for virtual machines");
    check(at("0000:08:00.0"), "npu", "AMD NPU (XDNA 2)", "AMD", "", 0, "/sys/bus/pci/devices");
    CHECK_STR(at("0000:08:00.0")->note, "no driver is loaded");
    CHECK_STR(at("0000:08:00.0")->help, "sudo modprobe amdxdna");
    CHECK_STR(at("0000:09:00.0")->help, "sudo modprobe habanalabs");
    check(at("0000:0b:00.0"), "gpu", "0x1a03:0x2000", "ASPEED", "ast", 0, "/sys/bus/pci/devices");
    CHECK_HAS(at("0000:0b:00.0")->note, "it cannot compute");
    for (size_t i = 0; i < count; i++)
        CHECK(strcmp(items[i].pci, "0000:0a:00.0") != 0); /* a network card */
}

static void test_npus(void)
{
    look(FIXTURE("intel-npu-laptop"));
    CHECK_INT(count, 2);
    check(&items[0], "gpu", "", "Intel", "", 0, "/sys/class/drm/card0");
    check(&items[1], "npu", "Intel NPU (Meteor Lake)", "Intel", "intel_vpu", 0,
          "/sys/class/accel/accel0");
    CHECK_STR(items[1].note, "");
    look(FIXTURE("arm-server"));
    CHECK_INT(count, 2);
    check(&items[0], "npu", "Qualcomm NPU", "Qualcomm", "qaic", 0, "/sys/class/accel/accel0");
    check(&items[1], "npu", "AMD NPU", "AMD", "amdxdna", 0, "/sys/class/accel/accel1");
    look(FIXTURE("laptop"));
    CHECK_INT(count, 0);
}

/* Numbers that are none, names that are too long: listed or not, never a crash. */
static void test_bad_files(void)
{
    static const char *const files[][2] = {
        {"sys/class/drm/card0/device/vendor", "0xzz"},
        {"sys/class/drm/card0/device/device", "-1"},
        {"sys/class/drm/card0/device/uevent", "DRIVER\nPCI_ID=:::\nPCI_SLOT_NAME"},
        {"sys/class/drm/card0/device/mem_info_vram_total", "-5"},
        {"sys/class/drm/card1/device/mem_info_vram_total", "0"},
        {"sys/class/accel/accel0/device/uevent", "DRIVER=\x1b[31m"},
        {"sys/bus/pci/devices/0000:01:00.0/class", "0x030000000000000000000"},
        {"sys/bus/pci/devices/0000:02:00.0/class", ""},
    };
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        char full[700];
        snprintf(full, sizeof full, "%s/%s", scratch("m"), files[i][0]);
        for (char *slash = full + strlen(scratch_folder) + 1; (slash = strchr(slash, '/'));
             slash++) {
            *slash = '\0';
            mkdir(full, 0755);
            *slash = '/';
        }
        CHECK_INT(assay__file_write(full, files[i][1], strlen(files[i][1]), NULL), 0);
    }
    look(scratch("m"));
    CHECK_INT(count, 3);
    check(&items[0], "gpu", "", "", "", 0, "/sys/class/drm/card0");
    check(&items[1], "gpu", "", "", "", 0, "/sys/class/drm/card1"); /* 0 bytes: not known */
    CHECK_STR(items[2].kind, "npu");
}

/* --- NVML ------------------------------------------------------------------------------------- */

static void fake_nvml(const char *library, const char *script)
{
    char path[600];
    snprintf(path, sizeof path, "%s/tests/lib/%s.so", ASSAY_TEST_BUILD, library);
    setenv("ASSAY_NVML_LIBRARY", path, 1);
    setenv("FAKE_NVML", script, 1);
}

static size_t from_nvml(void)
{
    size_t found = 0;
    look(NULL);
    while (found < count && strcmp(items[found].source, "NVML") == 0)
        found++;
    return found;
}

static void test_nvml(void)
{
    fake_nvml("lib_fake_nvml", "");
    CHECK_INT(from_nvml(), 2);
    check(&items[0], "gpu", "Fake GPU A", "NVIDIA", "nvidia", 150754820096, "NVML");
    CHECK_STR(items[0].driver_version, "580.65.06");
    CHECK_STR(items[0].pci, "0000:1a:00.0");
    CHECK_STR(items[0].uuid, "GPU-0");
    check(&items[1], "gpu", "Fake GPU B", "NVIDIA", "nvidia", 150754820096, "NVML");
    CHECK_STR(items[1].pci, ""); /* it does not support the call */
    fake_nvml("lib_fake_nvml", "nohandle");
    CHECK_INT(from_nvml(), 2);
    CHECK_STR(items[1].name, "");
    CHECK_INT(items[1].memory_bytes, 0);
    fake_nvml("lib_fake_nvml", "nodriver");
    CHECK_INT(from_nvml(), 0);
    fake_nvml("lib_fake_nvml_old", "");
    CHECK_INT(from_nvml(), 1);
    check(&items[0], "gpu", "", "NVIDIA", "nvidia", 0, "NVML");
    CHECK_STR(items[0].driver_version, "");
}

/* A real host's files (an H200 in a virtual machine), cut to two CPUs: the card by PCI and by its
 * driver's own file. */
static void test_nvidia_host(void)
{
    look(FIXTURE("nvidia-host"));
    CHECK_INT(count, 1);
    check(&items[0], "gpu", "NVIDIA H200", "NVIDIA", "nvidia", 0, "/sys/bus/pci/devices");
    CHECK_STR(items[0].pci, "0000:00:06.0");
    CHECK_HAS(items[0].note, "NVML does not list it");
}

/* --- shown ------------------------------------------------------------------------------------ */

/* The caller frees. */
static char *view(const struct assay__hardware *shown, size_t number,
                  struct assay_report_options options)
{
    struct assay__doc *doc = NULL;
    CHECK_INT(assay__doc_new(&doc), 0);
    assay__add_hardware(doc, shown, number, NULL);
    return document_text(doc, options);
}

static void test_shown(void)
{
    static const struct assay__hardware all[] = {
        {"gpu", "NVIDIA H200", "NVIDIA", "nvidia", "580.65.06", 150754820096, "0000:1a:00.0",
         "GPU-1", "NVML", "", ""},
        {"npu", "", "", "", "", 0, "", "", "/sys/class/accel/accel0", "no driver is loaded",
         "sudo modprobe x"}};
    struct assay__buf out = {0};
    char *text = view(all, 2, (struct assay_report_options){.columns = 200});
    CHECK_HAS(text, "\n  gpu    NVIDIA H200 ");
    CHECK_HAS(text, " 151 GB  nvidia  580.65.06  0000:1a:00.0  NVML\n");
    CHECK_HAS(text, "\n  npu    model not reported ");
    CHECK_HAS(text, " /sys/class/accel/accel0 ");
    CHECK_HAS(text, "no driver is loaded  sudo modprobe x\n");
    free(text);
    text = view(all, 2, (struct assay_report_options){.columns = 60});
    CHECK_HAS(text, "\n      note: no driver is loaded\n      fix: sudo modprobe x\n");
    free(text);
    text = view(all, 2, (struct assay_report_options){.format = "csv"});
    CHECK_HAS(text,
              "\ngpu,NVIDIA H200,NVIDIA,150754820096,nvidia,580.65.06,0000:1a:00.0,GPU-1,NVML,"
              ",,\nnpu,,,,,,,,/sys/class/accel/accel0,,no driver is loaded,sudo modprobe x\n");
    free(text);
    text = view(NULL, 0, (struct assay_report_options){0});
    CHECK_HAS(text, "None.");
    free(text);
    struct assay__json_writer w;
    assay__json_start(&w, &out, false);
    assay__json_object(&w);
    assay__hardware_json(&w, all, 2);
    assay__json_object_end(&w);
    CHECK_STR(out.data,
              "{\"hardware\":[{\"class\":\"gpu\",\"name\":\"NVIDIA "
              "H200\",\"vendor\":\"NVIDIA\",\"driver\":"
              "\"nvidia\",\"driver_version\":\"580.65.06\",\"memory_bytes\":150754820096,\"pci\":"
              "\"0000:1a:00.0\",\"uuid\":\"GPU-1\",\"source\":\"NVML\",\"note\":null,\"help\":null}"
              ",{\"class\":\"npu\","
              "\"name\":null,\"vendor\":null,\"driver\":null,\"driver_version\":null,\"memory_"
              "bytes\":null,"
              "\"pci\":null,\"uuid\":null,\"source\":\"/sys/class/accel/accel0\",\"note\":"
              "\"no driver is loaded\",\"help\":\"sudo modprobe x\"}]}");
    assay__buf_free(&out);
}

int main(int argc, char **argv)
{
    static const struct harness_test tests[] = {
        {"cards", test_cards}, {"without_driver", test_without_driver},
        {"npus", test_npus},   {"bad_files", test_bad_files},
        {"nvml", test_nvml},   {"nvidia_host", test_nvidia_host},
        {"shown", test_shown},
    };
    return harness_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
